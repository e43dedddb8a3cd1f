"""One environment of a Python peer on MiniWoB++, driven line by line: BrowserGym or Farama's own.

Reads one JSON object a line, {"task", "seeds", "operation": "episodes" | "resets"}, and answers with one JSON object a
line: milliseconds of every reset and step, and how the episodes ended. Episodes are played by scripts that read what the
environment observes. Seeds are the environment's own; {"operation": "seeds"} tells which problem BrowserGym makes of each.
"""

import argparse
import json
import logging
import os
import re
import sys
import time
import traceback

TASKS = ("click-checkboxes", "click-test-2", "enter-text", "login-user", "click-button")


class BrowserGym:
    """browsergym-miniwob; `fast` has the two documented speed options, everything else is the default."""

    def __init__(self, fast):
        import browsergym.miniwob  # noqa: F401  registers the tasks
        import gymnasium

        self._make = gymnasium.make
        self._options = {"pre_observation_delay": 0.0, "slow_mo": 0} if fast else {}
        self._envs = {}

    def reset(self, task, seed):
        if task not in self._envs:
            self._envs[task] = self._make(f"browsergym/miniwob.{task}", **self._options)
        self._env = self._envs[task]
        observation, _ = self._env.reset(seed=seed)
        return observation

    def step(self, action):
        kind, bid, *text = action
        code = f"click({bid!r})" if kind == "click" else f"fill({bid!r}, {text[0]!r})"
        observation, reward, terminated, truncated, _ = self._env.step(code)
        if observation["last_action_error"]:
            raise RuntimeError(f"{code}: {observation['last_action_error']}")
        return observation, reward, terminated or truncated

    @staticmethod
    def goal(observation):
        return observation["goal"]

    @staticmethod
    def elements(observation):
        for node in observation["axtree_object"]["nodes"]:
            bid = node.get("browsergym_id")
            if bid is not None and not node.get("ignored"):
                yield node["role"]["value"], node.get("name", {}).get("value", "").strip(), bid


class Farama:
    """miniwob's own environment, which keeps its page between episodes."""

    ROLES = {"input_checkbox": "checkbox", "input_text": "textbox", "input_password": "textbox", "button": "button"}

    def __init__(self):
        import gymnasium
        import miniwob  # noqa: F401  registers the tasks
        from miniwob.action import ActionTypes

        self._make, self._types, self._envs = gymnasium.make, ActionTypes, {}

    def reset(self, task, seed):
        if task not in self._envs:
            self._envs[task] = self._make(f"miniwob/{task}-v1")
        self._env = self._envs[task]
        observation, _ = self._env.reset(seed=seed)
        self._env.unwrapped.instance.driver.execute_script("core.EPISODE_MAX_TIME = 1000000;")
        return observation

    def step(self, action):
        kind, ref, *text = action
        name = self._types.CLICK_ELEMENT if kind == "click" else self._types.FOCUS_ELEMENT_AND_TYPE_TEXT
        made = self._env.unwrapped.create_action(name, ref=ref, **({"text": text[0]} if text else {}))
        observation, reward, terminated, truncated, _ = self._env.step(made)
        return observation, reward, terminated or truncated

    @staticmethod
    def goal(observation):
        return observation["utterance"]

    def elements(self, observation):
        dom = observation["dom_elements"]
        for i, element in enumerate(dom):
            role = self.ROLES.get(element["tag"])
            if role is not None:
                # A box stands in its label, right before the label's text.
                after = dom[i + 1]["text"] if role == "checkbox" and i + 1 < len(dom) else ""
                yield role, (after or element["text"] or element["value"]).strip(), element["ref"]


def plan(task, goal, elements):
    """The actions that solve a problem, from its words and what is on the page."""
    elements = list(elements)

    def named(role, name):
        return next(ref for found, text, ref in elements if found == role and text.lower() == name.lower())

    def fields():
        return [ref for found, _, ref in elements if found == "textbox"]

    if task == "click-checkboxes":
        wanted = re.fullmatch(r"Select (.*) and click Submit\.", goal).group(1)
        names = [] if wanted == "nothing" else wanted.split(", ")
        return [("click", named("checkbox", name)) for name in names] + [("click", named("button", "Submit"))]
    if task == "click-test-2":
        return [("click", named("button", "ONE"))]
    if task == "click-button":
        return [("click", named("button", re.search(r'"(.*?)"', goal).group(1)))]
    texts = re.findall(r'"(.*?)"', goal)
    done = "Login" if task == "login-user" else "Submit"
    filled = [("fill", ref, text) for ref, text in zip(fields(), texts, strict=True)]
    return filled + [("click", named("button", done))]


def play(peer, task, seed, only_reset):
    started = time.perf_counter()
    observation = peer.reset(task, seed)
    reset_ms = (time.perf_counter() - started) * 1000
    goal = peer.goal(observation)
    steps, reward, done = [], 0, False
    if not only_reset:
        for action in plan(task, goal, peer.elements(observation)):
            started = time.perf_counter()
            observation, reward, done = peer.step(action)
            steps.append((time.perf_counter() - started) * 1000)
    return {"resetMs": reset_ms, "stepMs": steps, "success": bool(done and reward > 0), "goal": goal}


def mapped(seeds):
    from numpy.random import RandomState

    return [int(RandomState(seed).randint(0, 1_000_000)) for seed in seeds]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=("browsergym", "browsergym-fast", "farama"))
    name = parser.parse_args().peer
    # Both peers print to stdout when they like; answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    logging.disable(logging.WARNING)
    peer = Farama() if name == "farama" else BrowserGym(fast=name == "browsergym-fast")
    answers.write(json.dumps({"ready": True}) + "\n")
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["operation"] == "seeds":
            answers.write(json.dumps({"seeds": mapped(asked["seeds"])}) + "\n")
            continue
        only_reset = asked["operation"] == "resets"
        try:
            episodes = [play(peer, asked["task"], seed, only_reset) for seed in asked["seeds"]]
        except Exception as error:  # whatever stops a peer is what its row says
            words = " ".join(f"{type(error).__name__}: {error}".split())
            traceback.print_exc()
            answers.write(json.dumps({"error": words[:200].replace("|", "/")}) + "\n")
            continue  # whoever asked ends this process, and finds its browsers by it
        answers.write(json.dumps({"episodes": episodes}) + "\n")


if __name__ == "__main__":
    main()
