"""Checkpoint and REST cases of sdk.py, the download for PEFT and torch, and the end of a session."""

import io
import json
import tarfile
import urllib.request

from harness import DEADLINE_S, case, ensure, refused, same, wait
from sdk import column
from tinker import types

ADAM = dict(learning_rate=1e-2, beta1=0.9, beta2=0.95, eps=1e-8)


def run(world):
    data = world.examples()
    restore(world, data)
    saved = world.create(seed=29)
    rest_listing(world, saved, data)
    if world.newest:
        account(world, saved, data)
    weights(world, data)


def step(client, data):
    client.forward_backward(data, "cross_entropy")
    wait(client.optim_step(types.AdamParams(**ADAM)))


def logprobs(client, data):
    return [value for row in column(wait(client.forward(data, "cross_entropy")), "logprobs") for value in row]


def restore(world, data):
    client = world.create(seed=23)
    step(client, data)
    step(client, data)
    path = wait(client.save_state("resume")).path

    @case("save_state names a three-part training path")
    def _():
        model_id = wait(client.get_info()).model_id
        ensure(path == f"tinker://{model_id}/weights/resume", path)
        return path

    before = logprobs(client, data)
    step(client, data)
    after = logprobs(client, data)

    @case("create_training_client_from_state_with_optimizer goes on as if nothing had happened")
    def _():
        resumed = world.owned(wait(world.service.create_training_client_from_state_with_optimizer(path)))
        loaded = same(logprobs(resumed, data), before, "log-probabilities as loaded", 1e-5)
        step(resumed, data)
        stepped = same(logprobs(resumed, data), after, "log-probabilities a step later", 1e-5)
        ensure(wait(resumed.get_info()).lora_rank == 8, "rank of the restored model")
        return f"differences {loaded:.1e} and {stepped:.1e}"

    @case("create_training_client_from_state loads the weights and starts the optimizer anew")
    def _():
        fresh = world.owned(wait(world.service.create_training_client_from_state(path)))
        same(logprobs(fresh, data), before, "log-probabilities as loaded", 1e-5)
        step(fresh, data)
        gap = max(abs(left - right) for left, right in zip(logprobs(fresh, data), after))
        ensure(gap > 1e-4, f"a step without the saved moments gave the same result (difference {gap})")

    @case("a sampler made before a step is not changed by it; save_weights_for_sampler gives a path to sample from")
    def _():
        named = wait(client.save_weights_for_sampler("snapshot")).path
        ensure(named.startswith("tinker://") and named.endswith("/sampler_weights/snapshot"), named)
        prompt = types.ModelInput.from_ints(world.encode("What is 2 plus 2?"))
        ephemeral = wait(client.save_weights_and_get_sampling_client())
        first = wait(ephemeral.compute_logprobs(prompt))[1:]
        step(client, data)
        same(wait(ephemeral.compute_logprobs(prompt))[1:], first, "ephemeral sampler", 1e-6)
        by_path = wait(world.service.create_sampling_client(model_path=named))
        same(wait(by_path.compute_logprobs(prompt))[1:], first, "sampler of the path", 1e-5)
        changed = wait(wait(client.save_weights_and_get_sampling_client()).compute_logprobs(prompt))[1:]
        ensure(max(abs(a - b) for a, b in zip(changed, first)) > 1e-4, "a later sampler must show the step")
        if world.newest:
            ensure(by_path.get_base_model() == world.base_model, by_path.get_base_model())

    @case("a path of no checkpoint is refused by name")
    def _():
        wrong = path.replace("resume", "nothing-here")
        return refused(lambda: wait(world.service.create_training_client_from_state(wrong)), "nothing-here")


def rest_listing(world, client, data):
    rest = world.rest()
    model_id = wait(client.get_info()).model_id
    training = wait(client.save_state("listed", ttl_seconds=7200)).path
    sampler = wait(client.save_weights_for_sampler("listed-sampler")).path

    @case("training runs are listed and read, with rank, base model and last checkpoints")
    def _():
        listing = wait(rest.list_training_runs(limit=100))
        ids = [one.training_run_id for one in listing.training_runs]
        ensure(model_id in ids and listing.cursor.total_count >= len(ids), f"{model_id} is not in {ids}")
        run_ = wait(rest.get_training_run(model_id))
        ensure(run_.is_lora and run_.lora_rank == 8 and run_.base_model == world.base_model, f"{run_}")
        ensure(run_.last_checkpoint.tinker_path == training, f"last checkpoint {run_.last_checkpoint}")
        ensure(run_.last_sampler_checkpoint.tinker_path == sampler, f"{run_.last_sampler_checkpoint}")
        same_run = wait(rest.get_training_run_by_tinker_path(training))
        ensure(same_run.training_run_id == model_id, same_run.training_run_id)
        page = wait(rest.list_training_runs(limit=1, offset=1)).training_runs
        ensure(len(page) == 1 and page[0].training_run_id == ids[1], "limit and offset page through the runs")

    @case("checkpoints of a run and of the user are listed with type, path, size and expiry")
    def _():
        found = {one.tinker_path: one for one in wait(rest.list_checkpoints(model_id)).checkpoints}
        ensure(set(found) >= {training, sampler}, f"{sorted(found)}")
        one, other = found[training], found[sampler]
        ensure((one.checkpoint_type, one.checkpoint_id) == ("training", "weights/listed"), f"{one}")
        ensure((other.checkpoint_type, other.checkpoint_id) == ("sampler", "sampler_weights/listed-sampler"), f"{other}")
        ensure(one.expires_at is not None and other.expires_at is None, "only the checkpoint with a ttl expires")
        ensure((one.size_bytes or 0) > 0, f"size {one.size_bytes}")
        everything = [one.tinker_path for one in wait(rest.list_user_checkpoints(limit=1000)).checkpoints]
        ensure(training in everything and sampler in everything, f"{everything}")

    @case("weights_info tells base model, rank and trained parts of a checkpoint")
    def _():
        info = wait(rest.get_weights_info_by_tinker_path(training))
        ensure(info.base_model == world.base_model and info.is_lora and info.lora_rank == 8, f"{info}")

    @case("sessions are listed and name their training runs and samplers; a sampler names its base model")
    def _():
        session_id = model_id.split(":")[0]
        ensure(session_id in wait(rest.list_sessions(limit=100)).sessions, f"{session_id} is not listed")
        session = wait(rest.get_session(session_id))
        ensure(model_id in session.training_run_ids, f"{session.training_run_ids}")
        ensure(len(session.sampler_ids) > 0, "no samplers")
        ensure(wait(rest.get_sampler(session.sampler_ids[0])).base_model == world.base_model, "base model of the sampler")

    @case("ttl, publish, unpublish and delete act on the checkpoint named")
    def _():
        def find(path):
            listed = wait(rest.list_checkpoints(model_id)).checkpoints
            return next((one for one in listed if one.tinker_path == path), None)

        wait(rest.set_checkpoint_ttl_from_tinker_path(training, None))
        ensure(find(training).expires_at is None, "ttl None must remove the expiry")
        wait(rest.set_checkpoint_ttl_from_tinker_path(sampler, 86400))
        ensure(find(sampler).expires_at is not None, "ttl must set an expiry")
        wait(rest.publish_checkpoint_from_tinker_path(training))
        ensure(find(training).public is True, "published")
        wait(rest.unpublish_checkpoint_from_tinker_path(training))
        ensure(find(training).public is False, "unpublished")
        wait(rest.delete_checkpoint_from_tinker_path(training))
        ensure(find(training) is None and find(sampler) is not None, "only the deleted checkpoint is gone")


def account(world, client, data):
    """What only the newest SDK has calls for."""
    import tinker

    rest = world.rest()
    model_id = wait(client.get_info()).model_id
    session_id = model_id.split(":")[0]

    @case("a copy of a checkpoint outlives its source, and a model restored from it has the source's weights")
    def _():
        source = wait(client.save_state("to-copy")).path
        before = logprobs(client, data)
        copy = wait(rest.copy_weights(source, "conformance-project", ttl_seconds=7200))
        ensure(copy != source and copy.endswith("/weights/to-copy"), copy)
        step(client, data)
        wait(rest.delete_checkpoint_from_tinker_path(source))
        restored = world.owned(wait(world.service.create_training_client_from_state(copy)))
        return f"largest difference {same(logprobs(restored, data), before, 'log-probabilities of the copy', 1e-5):.1e}"

    @case("sessions are found by id, by name and by how they ended, in the SDK's own types")
    def _():
        def search(**filters):
            return wait(rest.search_sessions(types.SessionSearchRequest(**filters))).sessions

        found = search(session_id=session_id)
        ensure([one.session_id for one in found] == [session_id], f"{found}")
        ensure(found[0].status.type == "active" and found[0].checkpoints_count > 0, f"{found[0]}")
        other = tinker.ServiceClient(base_url=world.base_url)
        other_id = wait(wait(other.create_lora_training_client(base_model=world.base_model, rank=4)).get_info()).model_id.split(":")[0]
        wait(other.close("errored", detail="on purpose"))
        ended = search(statuses=[{"type": "client_finished", "reasons": ["errored"]}])
        ensure([one.session_id for one in ended] == [other_id], f"{ended}")
        ensure((ended[0].status.reason.type, ended[0].status.detail) == ("errored", "on purpose"), f"{ended[0].status}")
        ensure(search(statuses=[{"type": "failed"}]) == [], "no session has failed")

    @case("the room that checkpoints take is told")
    def _():
        usage = wait(rest.get_current_checkpoint_storage_usage())
        ensure(sum(one.checkpoint_count for one in usage.data) > 0, f"{usage}")
        ensure(all(one.size_bytes > 0 for one in usage.data), f"{usage}")


def weights(world, data):
    """Downloads of one adapter before, after one and after two steps, with the log-probabilities that go with them."""
    client = world.create(seed=31)
    figures = {"data": [plain(datum) for datum in data], "states": []}
    # eps is large enough that entries without a gradient do not move by the sign of rounding errors.
    adam = dict(learning_rate=1e-2, beta1=0.9, beta2=0.95, eps=1e-4, weight_decay=0.1, grad_clip_norm=1.0)

    def keep(name):
        download(world, client, name)
        figures["states"].append({"folder": name, "logprobs": column(wait(client.forward(data, "cross_entropy")), "logprobs")})

    what = "external weights" if world.newest else "the archive of sampler weights"

    @case(f"{what} are downloaded, before and after two steps")
    def _():
        keep("adapter-0")
        for index in (1, 2):
            result = client.forward_backward(data, "cross_entropy")
            metrics = wait(client.optim_step(types.AdamParams(**adam))).metrics
            figures.setdefault("losses", []).append(wait(result).metrics["loss:sum"])
            figures.setdefault("optimizer_metrics", []).append(metrics)
            keep(f"adapter-{index}")
        figures["adam"] = adam
        (world.out / "figures.json").write_text(json.dumps(figures))
        return f"losses {figures['losses']}, optimizer metrics {figures['optimizer_metrics'][0]}"


def plain(datum):
    inputs = datum.loss_fn_inputs
    return {
        "tokens": list(datum.model_input.to_ints()),
        "targets": list(inputs["target_tokens"].data),
        "weights": list(inputs["weights"].data),
    }


def download(world, client, name):
    folder = world.out / name
    folder.mkdir(parents=True, exist_ok=True)
    rest = world.rest()
    if world.newest:
        path = wait(client.save_weights_external(name)).path
        ensure("/external_weights/" in path, path)
        for file, url in wait(rest.get_external_weights_urls(path)).urls.items():
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(fetch(url))
    else:
        path = wait(client.save_weights_for_sampler(name)).path
        url = wait(rest.get_checkpoint_archive_url_from_tinker_path(path)).url
        with tarfile.open(fileobj=io.BytesIO(fetch(url))) as archive:
            archive.extractall(folder, filter="data")
    for file in ("adapter_config.json", "adapter_model.safetensors"):
        ensure(list(folder.rglob(file)), f"{file} is not among {[str(one) for one in folder.rglob('*')]}")


def fetch(url):
    """Signed addresses carry their own permission: no key is sent."""
    with urllib.request.urlopen(url, timeout=DEADLINE_S) as response:
        return response.read()


def close(world):
    if world.newest:

        @case("close finishes the session: the server takes no further requests for its models")
        def _():
            import tinker

            service = tinker.ServiceClient(base_url=world.base_url)
            client = wait(service.create_lora_training_client(base_model=world.base_model, rank=4))
            model_id = wait(client.get_info()).model_id
            wait(service.close("success", detail="conformance"))
            model = {"base_model": world.base_model, "lora_config": {"rank": 4}, "type": "create_model"}
            session = {"session_id": model_id.split(":")[0], "model_seq_id": 1}
            refused(lambda: world.post("create_model", {**session, **model}), "HTTP Error 4")
            step = {"model_id": model_id, "seq_id": 1, "adam_params": {}, "type": "optim_step"}
            return refused(lambda: world.post("optim_step", step), "HTTP Error 4")

        @case("leaving a with block of the service client finishes its session")
        def _():
            import tinker

            with tinker.ServiceClient(base_url=world.base_url) as service:
                client = wait(service.create_lora_training_client(base_model=world.base_model, rank=4))
                ensure(wait(client.get_info()).lora_rank == 4, "rank 4")

    else:

        @case("unload_model ends a model")
        def _():
            client = world.create(rank=4)
            model_id = wait(client.get_info()).model_id
            ensure("request_id" in world.post("unload_model", {"model_id": model_id, "type": "unload_model"}), "a future")
            return refused(lambda: wait(client.forward(world.examples(), "cross_entropy")))
