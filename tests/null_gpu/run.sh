#!/bin/sh
# Runs a program on the null GPU: README.md of this folder.
#   run.sh LIBRARY_FOLDER SETTINGS PROGRAM [ARGUMENTS...]
folder=$1
settings=$2
shift 2
LZERO_NULL_GPU=$settings LD_LIBRARY_PATH=$folder LD_PRELOAD=$(cat "$folder/preload.txt") exec "$@"
