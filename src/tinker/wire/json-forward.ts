// forward, forward_backward and their result as JSON, both ways. SDKs up to 0.24 send these and read the result; newer
// ones use protobuf. One request type for both paths: `forward` is a forward_backward without gradients.

import { asInt32, asList, asMap, asNumber, asText, optional, type JsonMap } from './json-read.ts';
import { datumFromJson, datumToJson, mapValues, tensorsFromJson, tensorsToJson } from './json-data.ts';
import type { WireJson } from './json-text.ts';
import { DEFAULT_LIMITS, type DecodeLimits } from './limits.ts';
import type { ForwardBackwardOutput, ForwardBackwardRequest } from './model.ts';

export function forwardBackwardRequestToJson(request: ForwardBackwardRequest): JsonMap {
  const { modelId, seqId, data, lossFn, lossConfig, forwardOnly } = request;
  const input = {
    data: data.map((datum, i) => datumToJson(datum, `data[${i}]`)),
    loss_fn: lossFn,
    ...(Object.keys(lossConfig).length === 0 ? {} : { loss_fn_config: lossConfig }),
  };
  return {
    [inputKey(forwardOnly)]: input,
    model_id: modelId,
    ...(seqId === undefined ? {} : { seq_id: seqId }),
    type: forwardOnly ? 'forward' : 'forward_backward',
  };
}

/** `forwardOnly` is said by the path that the request came to. */
export function forwardBackwardRequestFromJson(
  value: WireJson,
  forwardOnly: boolean,
  limits: DecodeLimits = DEFAULT_LIMITS,
): ForwardBackwardRequest {
  const map = asMap(value, 'request');
  const key = inputKey(forwardOnly);
  const input = asMap(map[key], key);
  const config = asMap(input['loss_fn_config'] ?? {}, `${key}.loss_fn_config`);
  return {
    modelId: asText(map['model_id'], 'model_id'),
    seqId: optional(map['seq_id'], 'seq_id', asInt32),
    data: asList(input['data'], `${key}.data`).map((datum, i) => datumFromJson(datum, `data[${i}]`, limits)),
    lossFn: asText(input['loss_fn'], `${key}.loss_fn`),
    lossConfig: mapValues(config, (setting, name) => {
      return typeof setting === 'string' ? setting : asNumber(setting, `loss_fn_config.${name}`);
    }),
    forwardOnly,
  };
}

/** Metrics that are not finite are left out: JSON has no word for them, and clients refuse null. */
export function forwardBackwardOutputToJson({ outputType, outputs, metrics }: ForwardBackwardOutput): JsonMap {
  return {
    loss_fn_output_type: outputType,
    loss_fn_outputs: outputs.map((output, i) => tensorsToJson(output, `loss_fn_outputs[${i}]`)),
    metrics: Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value))),
  };
}

export function forwardBackwardOutputFromJson(
  value: WireJson,
  limits: DecodeLimits = DEFAULT_LIMITS,
): ForwardBackwardOutput {
  const map = asMap(value, 'result');
  const outputs = asList(map['loss_fn_outputs'], 'loss_fn_outputs');
  return {
    outputType: optional(map['loss_fn_output_type'], 'loss_fn_output_type', asText) ?? '',
    outputs: outputs.map((output, i) => tensorsFromJson(output, `loss_fn_outputs[${i}]`, limits)),
    metrics: mapValues(asMap(map['metrics'] ?? {}, 'metrics'), (metric, name) => asNumber(metric, `metrics.${name}`)),
  };
}

function inputKey(forwardOnly: boolean): 'forward_input' | 'forward_backward_input' {
  return forwardOnly ? 'forward_input' : 'forward_backward_input';
}
