"""Messages in many shapes for the codec cross-check, drawn from a seeded generator with the SDK's own types.

Requests go through the SDK's real serialiser where the SDK has one; replies, which an SDK only reads, are built from
its generated classes.
"""

import random

import numpy
from tinker import types
from tinker.proto import tinker_public_pb2 as pb

NAMES = ["target_tokens", "weights", "logprobs", "advantages", "clip_low_threshold", "ünï·code"]


def tensor(draw, rows):
    """Dense, matrix or CSR; both public dtypes; negative, huge and empty values."""
    dtype = draw.choice(["float32", "int64"])
    shape = draw.choice([[rows], [rows, draw.randint(1, 4)], [0]])
    size = int(numpy.prod(shape))
    if dtype == "float32":
        values = [draw.choice([0.0, -0.0, 1.5, -3e-42, 3.4e38, draw.gauss(0, 10)]) for _ in range(size)]
    else:
        values = [draw.choice([0, -1, 2**31, -(2**40), 2**53 - 1, draw.randint(0, 200000)]) for _ in range(size)]
    if len(shape) == 2 and draw.random() < 0.5:
        kept = [(index // shape[1], index % shape[1]) for index in range(size) if draw.random() < 0.4]
        starts = [sum(1 for row, _ in kept if row < edge) for edge in range(shape[0] + 1)]
        data = numpy.asarray([values[row * shape[1] + column] for row, column in kept], dtype)
        columns = [column for _, column in kept]
        return types.TensorData(data=data, dtype=dtype, shape=shape, sparse_crow_indices=starts, sparse_col_indices=columns)
    return types.TensorData(data=numpy.asarray(values, dtype), dtype=dtype, shape=shape)


def chunk(draw):
    kind = draw.choice(["text", "text", "text", "image", "dmel"])
    if kind == "text":
        return types.EncodedTextChunk(tokens=[draw.randint(0, 2**31 - 1) for _ in range(draw.randint(0, 9))])
    data = draw.randbytes(draw.randint(1, 40))
    if kind == "dmel":
        return types.DmelChunk(dmel=data)
    expected = draw.choice([None, draw.randint(1, 900)])
    return types.ImageChunk(data=data, format=draw.choice(["png", "jpeg"]), expected_tokens=expected)


def spans(draw):
    made = []
    for _ in range(draw.randint(1, 3)):
        kind = draw.choice([types.PromptProvenanceSpan, types.SampledProvenanceSpan])
        made.append(kind(sequence_id=f"s:{draw.randint(0, 9)}", offset=draw.choice([0, 7, 2**40]), length=draw.randint(1, 50)))
    return made


def datum(draw, with_spans):
    rows = draw.randint(1, 6)
    inputs = {name: tensor(draw, rows) for name in draw.sample(NAMES, draw.randint(0, len(NAMES)))}
    extra = {}
    if with_spans and draw.random() < 0.4:
        extra = {"model_input_spans": spans(draw), "loss_fn_input_spans": spans(draw)}
    model_input = types.ModelInput(chunks=[chunk(draw) for _ in range(draw.randint(0, 4))])
    return types.Datum(model_input=model_input, loss_fn_inputs=inputs, **extra)


def config(draw):
    made = {name: draw.gauss(0, 3) for name in ("clip_low_threshold", "beta") if draw.random() < 0.5}
    if draw.random() < 0.3:
        made["loss_id"] = "loss:ä"
    return draw.choice([None, made])


def forward_backward_request(seed):
    """Bytes as the newest SDK writes them."""
    from tinker.proto.request_conv import forward_backward_request_to_proto
    from tinker.types.forward_backward_input import ForwardBackwardInput
    from tinker.types.forward_backward_request import ForwardBackwardRequest

    draw = random.Random(seed)
    made = ForwardBackwardRequest(
        forward_backward_input=ForwardBackwardInput(
            data=[datum(draw, True) for _ in range(draw.randint(0, 4))],
            loss_fn=draw.choice(["cross_entropy", "ppo", "gspo"]),
            loss_fn_config=config(draw),
        ),
        model_id=f"session:train:{draw.randint(0, 99)}",
        seq_id=draw.choice([1, 2, 2**31 - 1]),
    )
    message = forward_backward_request_to_proto(made)
    message.forward_only = draw.random() < 0.3
    return message.SerializeToString()


def floats(draw, count):
    values = [draw.choice([float("nan"), float("-inf"), 0.0, draw.gauss(-3, 4)]) for _ in range(count)]
    return numpy.asarray(values, numpy.float32).tobytes()


def integers(draw, count):
    return numpy.asarray([draw.randint(0, 2**31 - 1) for _ in range(count)], numpy.int32).tobytes()


def topk(draw, target, rows):
    target.k, target.length = draw.randint(1, 4), rows
    target.token_ids, target.logprobs = integers(draw, rows * target.k), floats(draw, rows * target.k)


def fill_tensor(target, dtype, data, shape):
    target.dtype, target.dense = dtype, data
    target.shape.extend(shape)


def sample_response(seed):
    draw = random.Random(seed)
    message = pb.SampleResponse()
    for _ in range(draw.randint(0, 4)):
        sequence = message.sequences.add()
        count = draw.randint(1, 7)
        sequence.stop_reason = draw.choice([pb.STOP_REASON_STOP, pb.STOP_REASON_LENGTH])
        sequence.tokens = integers(draw, count)
        if draw.random() < 0.8:
            sequence.logprobs = floats(draw, count)
        if draw.random() < 0.4:
            topk(draw, sequence.topk_sampled_logprobs, count)
    prompt = draw.randint(2, 6)
    if draw.random() < 0.5:
        message.prompt_logprobs = floats(draw, prompt)
    if draw.random() < 0.5:
        topk(draw, message.topk_prompt_logprobs, prompt)
    if draw.random() < 0.4:
        fill_tensor(message.target_prompt_logprobs, pb.DTYPE_FLOAT32, floats(draw, 2 * (prompt - 1)), [prompt - 1, 2])
    if draw.random() < 0.4:
        ids = draw.choice([(pb.DTYPE_INT32, numpy.int32), (pb.DTYPE_INT64, numpy.int64)])
        drawn = numpy.asarray([draw.randint(0, 2**31 - 1) for _ in range(2 * (prompt - 1))], ids[1]).tobytes()
        fill_tensor(message.prompt_alt_tokens.tokens, ids[0], drawn, [prompt - 1, 2])
        fill_tensor(message.prompt_alt_tokens.logprobs, pb.DTYPE_FLOAT32, floats(draw, 2 * (prompt - 1)), [prompt - 1, 2])
    message.prompt_cache_hit_tokens = draw.choice([0, 5, 2**31 - 1])
    return message.SerializeToString()


WIDTHS = {pb.DTYPE_FLOAT32: 4, pb.DTYPE_INT64: 8, pb.DTYPE_INT32: 4, pb.DTYPE_BFLOAT16: 2}


def forward_backward_output(seed):
    """Several records with other trailing shapes and all four dtypes, as a ragged result has them."""
    draw = random.Random(seed)
    message = pb.ForwardBackwardOutput(loss_fn_output_type=draw.choice(["ArrayRecord", "a.b:TorchLossReturn"]))
    names = draw.sample(["logprobs", "elementwise_loss", "values"], draw.randint(1, 3))
    dtypes = {name: draw.choice(list(WIDTHS)) for name in names}
    for _ in range(draw.randint(0, 3)):
        record = message.loss_fn_outputs.add(type_tag="x", num_datums=draw.randint(1, 4))
        for name in names:
            batch, trailing = record.fields[name], draw.choice([[], [2], [3, 2]])
            width = WIDTHS[dtypes[name]] * int(numpy.prod(trailing, dtype=int))
            edges = numpy.cumsum([0] + [draw.randint(1, 4) * width for _ in range(record.num_datums)])
            batch.dtype, batch.offsets = dtypes[name], edges.astype(numpy.int64).tobytes()
            batch.trailing_shape.extend(trailing)
            batch.data = small_values(draw, dtypes[name], int(edges[-1]) // WIDTHS[dtypes[name]])
    for name in ("loss:sum", "tokens:mean"):
        message.metrics[name] = draw.gauss(0, 100)
    return message.SerializeToString()


def small_values(draw, dtype, count):
    if dtype == pb.DTYPE_FLOAT32:
        return floats(draw, count)
    if dtype == pb.DTYPE_BFLOAT16:
        return numpy.asarray([draw.choice([0, 0x3F80, 0xC2C8, 0x7F80]) for _ in range(count)], numpy.uint16).tobytes()
    ints = {pb.DTYPE_INT64: numpy.int64, pb.DTYPE_INT32: numpy.int32}[dtype]
    return numpy.asarray([draw.randint(-(2**31), 2**31 - 1) for _ in range(count)], ints).tobytes()


def sample_request(seed):
    """JSON, the only form that requests for samples have."""
    draw = random.Random(seed)
    stop = draw.choice([None, "\n\nUser:", ["a", "ö"], [1, 2], []])
    params = types.SamplingParams(
        max_tokens=draw.choice([None, 1, 4096]),
        seed=draw.choice([None, 0, 2**31]),
        stop=stop,
        temperature=draw.choice([0.0, 0.7, 1.0]),
        top_k=draw.choice([-1, 5]),
        top_p=draw.choice([1.0, 0.9]),
    )
    prompt = types.ModelInput(chunks=[types.EncodedTextChunk(tokens=[1, 2, draw.randint(0, 200000)])])
    made = types.SampleRequest(
        num_samples=draw.randint(1, 9),
        prompt=prompt,
        sampling_params=params,
        sampling_session_id="s:sample:0",
        seq_id=draw.choice([0, 2**53 + 1, 10**18 + 5]),
        prompt_logprobs=draw.choice([True, False]),
        topk_prompt_logprobs=draw.choice([0, 3]),
    )
    return made.model_dump_json(exclude_none=True).encode()
