#!/bin/sh
# The runs of this experiment, JOBS (2) at a time, one core each; what is finished is not run again.
#   run.sh LZERO OUT suite|timed|alone|transfer|forgetting|ablations|control [SEED...]
set -u
here=$(dirname "$(realpath "$0")")
configs=$here/../../configs/multitask
lzero=$1 out=$2 part=$3
shift 3
seeds=${*:-1 2 3}
mkdir -p "$out"

# name, config, settings: a line of the list of runs
train() { echo "$@"; }

suite() { train "suite_$1" "$configs/suite_unizero.yaml" "seed=$1"; }

# For time and memory: as a user trains, with JOBS=1 and nothing beside.
timed() { train "timed_$1" "$configs/suite_unizero.yaml" "seed=$1" deterministic=false; }

# Evaluated about ten times each.
alone() {
  for task in catch_pixels:250 tictactoe:1000 visual_match:250 empty_room:750 pendulum:400 mountain_car:400 \
    cartpole:250 catch:250; do
    train "${task%:*}_$1" "$configs/suite_unizero.yaml" --task "${task%:*}" "seed=$1" \
      "evaluate.every_updates=${task#*:}"
  done
}

# Fresh; from the suite; the same with the transformer frozen, and adapters of rank 8.
transfer() {
  for task in key_to_door:100 lava_gap:125; do
    set -- "$1" "${task%:*}" "evaluate.every_updates=${task#*:}"
    common="$configs/held_out_unizero.yaml --task $2 seed=$1 $3 stop.end_at_target=true"
    train "$2_fresh_$1" "$common"
    train "$2_warm_$1" "$common" "init.from=$out/suite_$1"
    train "$2_adapters_$1" "$common" "init.from=$out/suite_$1" "multitask.share=[transformer]" \
      "multitask.freeze=[shared]" multitask.adapter_rank=8
  done
}

# A ninth task after the suite: what is shared frozen, all free with the old tasks at a quarter of their ratios, all free
# without them.
forgetting() {
  nine=$out/nine.yaml
  {
    sed "s#\.\./base#$configs/../base#" "$configs/suite_unizero.yaml"
    sed -n '/- name: lava_gap/,/stop:/p' "$configs/held_out_unizero.yaml"
  } > "$nine"
  old="[cartpole,catch,catch_pixels,empty_room,mountain_car,pendulum,tictactoe,visual_match]"
  common="$nine seed=$1 init.from=$out/suite_$1 init.parts=[shared,own] tasks.lava_gap.stop.max_env_steps=48000"
  common="$common tasks.lava_gap.train.steps_per_round=4"
  train "nine_frozen_$1" "$common" "multitask.freeze=[shared]" "multitask.evaluate_only=$old" evaluate.every_updates=3000
  train "nine_free_$1" "$common" "multitask.evaluate_only=$old" evaluate.every_updates=3000
  train "nine_quarter_$1" "$common" tasks.cartpole.train.updates_per_env_step=0.0625 \
    tasks.catch.train.updates_per_env_step=0.0625 tasks.catch_pixels.train.updates_per_env_step=0.0625 \
    tasks.empty_room.train.updates_per_env_step=0.0625 tasks.mountain_car.train.updates_per_env_step=0.1 \
    tasks.pendulum.train.updates_per_env_step=0.1 tasks.tictactoe.train.updates_per_env_step=0.025 \
    tasks.visual_match.train.updates_per_env_step=0.005
}

# Against suite_SEED: updates together, these balanced, adapters, own value and reward heads. Five grid worlds with one
# encoder, and with one each.
ablations() {
  together="$configs/suite_unizero.yaml seed=$1 multitask.updates=together train.grad_clip=5 evaluate.every_updates=1000"
  train "together_$1" "$together"
  train "grad_norm_$1" "$together" multitask.balance=grad_norm
  train "pcgrad_$1" "$together" multitask.balance=pcgrad
  train "rank8_$1" "$configs/suite_unizero.yaml" "seed=$1" multitask.adapter_rank=8
  train "own_heads_$1" "$configs/suite_unizero.yaml" "seed=$1" "multitask.share=[transformer]"
  maze="$configs/minigrid5_unizero.yaml seed=$1 stop.max_env_steps=20000"
  train "maze_group_$1" "$maze"
  train "maze_own_$1" "$maze" model.encoder_group=none
}

# Six tasks of the DeepMind Control Suite in one model, and each alone, evaluated as often. Where auto finds no Python
# with dm_control: first on PATH.
control() {
  train "dmc6_$1" "$configs/dmc6_unizero.yaml" "seed=$1"
  for task in cartpole_swingup cup_catch finger_spin reacher_easy walker_walk cheetah_run; do
    train "${task}_$1" "$configs/dmc6_unizero.yaml" --task "$task" "seed=$1" evaluate.every_updates=2500
  done
}

for seed in $seeds; do "$part" "$seed"; done |
  xargs -P "${JOBS:-2}" -L 1 sh -c 'lzero=$0 out=$1 name=$2; shift 2
    [ -e "$out/$name/status.json" ] && grep -q finished "$out/$name/status.json" && exit 0
    rm -rf "${out:?}/$name"
    config=$1; shift
    "$lzero" train "$config" deterministic=true "$@" --run-dir "$out/$name" > "$out/$name.log" 2>&1 ||
      echo "$name: exit code $?"' "$lzero" "$out"
