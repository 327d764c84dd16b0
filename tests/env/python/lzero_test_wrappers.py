"""Wrappers for the tests of worker processes, which look for modules in this folder."""

import gymnasium


def doubled(env):
    return gymnasium.wrappers.TransformObservation(env, lambda seen: 2 * seen, env.observation_space)


def plus(env, number):
    return gymnasium.wrappers.TransformObservation(env, lambda seen: seen + number, env.observation_space)


def broken(env):
    raise ValueError("this went wrong on purpose")


def nothing(env):
    return None
