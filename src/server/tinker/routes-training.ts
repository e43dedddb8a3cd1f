// Requests of models: each is answered with where its result will be. What cannot be read is refused, and its number
// counts as used where it can be told, so that the model does not wait for it.

import { isGiven } from './absent.ts';
import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import {
  createModelRequestSchema,
  decodeForwardBackwardRequest,
  forwardBackwardRequestFromJson,
  isProtobuf,
  loadWeightsRequestSchema,
  modelRequestSchema,
  optimStepRequestSchema,
  parseJson,
  saveWeightsExternalRequestSchema,
  saveWeightsForSamplerRequestSchema,
  saveWeightsRequestSchema,
  type ForwardBackwardRequest,
} from '../../tinker/index.ts';
import { adamParams, lossConfig, lossName, readData } from './datums.ts';
import { peekJson, peekProto, type Numbered } from './peek-body.ts';
import { decodeLimits, jsonOf, parseBody, readBytes, readJson, tooLarge } from './read-body.ts';
import { refusalOf, userFault } from './refusals.ts';
import type { Result } from './results.ts';
import type { Services } from './services.ts';
import { json, type FuturePromise } from './service-parts.ts';
import type { TrainingModel } from './training-model.ts';

type Run = (model: TrainingModel) => Promise<Result>;

/** What is wrong with a request is told when its turn comes. */
function prepared(prepare: () => Run): Run {
  try {
    return prepare();
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    return () => Promise.reject(failure);
  }
}

export function addTrainingRoutes(app: Hono, services: Services): void {
  const { training, sampling, saving, parts } = services;
  const { maxBodyBytes } = parts.limits;

  /** Refuses like `work`, and uses up the number of a request that will not come again. */
  const refusing = async <T>(peek: () => Numbered | undefined, work: () => T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const { status } = refusalOf(error);
      const isFinal = status >= 400 && status < 500 && status !== 429;
      const sent = isFinal ? peek() : undefined;
      if (sent !== undefined) training.refuse(sent.modelId, sent.seqId);
      throw error;
    }
  };

  const numbered = <T extends z.ZodType<{ model_id: string; seq_id?: number | null | undefined }>>(
    path: string,
    schema: T,
    kind: string,
    prepare: (body: z.infer<T>) => Run,
  ): void => {
    app.post(path, async (context) => {
      const sent = await readBytes(context, maxBodyBytes);
      const promise = await refusing(
        () => peekJson(sent.bytes),
        () => {
          const body = parseBody(schema, jsonOf(sent, maxBodyBytes));
          const run = prepared(() => prepare(body));
          const { model_id: modelId, seq_id } = body;
          return training.submit({ kind, modelId, seqId: seq_id ?? undefined, bytes: sent.bytes.length, run });
        },
      );
      return context.json(promise);
    });
  };

  const pass = (request: ForwardBackwardRequest, bytes: number): FuturePromise => {
    const { modelId, seqId, forwardOnly } = request;
    const { served } = training.get(modelId);
    const run = prepared(() => {
      const loss = lossName(request.lossFn);
      const config = lossConfig(loss, request.lossConfig);
      const { data, shapes } = readData(request.data, loss, served.backend);
      const tokens = data.reduce((sum, datum) => sum + datum.tokens.length, 0);
      return async (model) => {
        const output = await model.forward(data, shapes, { loss, config, backward: !forwardOnly });
        if (!forwardOnly) parts.metrics.tokens('trained', tokens);
        return { kind: 'forward_backward', output };
      };
    });
    return training.submit({ kind: forwardOnly ? 'forward' : 'forward_backward', modelId, seqId, bytes, run });
  };

  const readPass = async (context: Context, forwardOnly: boolean): Promise<FuturePromise> => {
    const isProto = isProtobuf(context.req.header('content-type'));
    const limits = decodeLimits(maxBodyBytes);
    const { bytes, complete } = await readBytes(context, maxBodyBytes);
    const peek = isProto ? peekProto : peekJson;
    return refusing(
      () => peek(bytes),
      () => {
        if (!complete) throw tooLarge(maxBodyBytes);
        const request = isProto
          ? decodeForwardBackwardRequest(bytes, limits)
          : forwardBackwardRequestFromJson(parseJson(bytes, limits), forwardOnly, limits);
        return pass(forwardOnly ? { ...request, forwardOnly: true } : request, bytes.length);
      },
    );
  };

  app.post('/create_model', async (context) => {
    const { value } = await readJson(context, maxBodyBytes);
    return context.json(training.createModel(parseBody(createModelRequestSchema, value)));
  });
  app.post('/forward_backward', async (context) => context.json(await readPass(context, false)));
  app.post('/forward', async (context) => context.json(await readPass(context, true)));

  numbered('/optim_step', optimStepRequestSchema, 'optim_step', (body) => {
    if (body.optimizer_params) {
      throw userFault(
        `optimizer_params.type ${JSON.stringify(body.optimizer_params.type)} is not served here; adamw is (adam_params).`,
      );
    }
    const params = adamParams(body.adam_params ?? {});
    return async (model) => json({ type: 'optim_step', metrics: { ...(await model.optimStep(params)) } });
  });
  numbered(
    '/save_weights',
    saveWeightsRequestSchema,
    'save_weights',
    (body) => (model) =>
      saving.save(model, {
        kind: 'weights',
        name: body.path,
        overwrite: body.overwrite ?? false,
        ttlSeconds: body.ttl_seconds ?? undefined,
        userMetadata: body.user_metadata ?? undefined,
      }),
  );
  numbered(
    '/save_weights_for_sampler',
    saveWeightsForSamplerRequestSchema,
    'save_weights_for_sampler',
    ({ path, sampling_session_seq_id: sequence, kind, ttl_seconds, user_metadata }) => {
      if (isGiven(path)) {
        if (kind === 'inflight') throw userFault('kind "inflight" is for samplers without a name; leave path out.');
        return (model) =>
          saving.save(model, {
            kind: 'sampler_weights',
            name: path,
            // A run that goes on from a checkpoint writes its samplers anew; clients have no word for it here.
            overwrite: true,
            ttlSeconds: ttl_seconds ?? undefined,
            userMetadata: user_metadata ?? undefined,
          });
      }
      if (!isGiven(sequence))
        throw userFault('path or sampling_session_seq_id is needed to save weights for a sampler.');
      return async (model) =>
        json({ type: 'save_weights_for_sampler', sampling_session_id: await sampling.hold(model, sequence) });
    },
  );
  numbered('/save_weights_external', saveWeightsExternalRequestSchema, 'save_weights_external', (body) => {
    if (body.age_encryption_recipients?.length) {
      throw userFault('age_encryption_recipients: adapters are not encrypted here; leave it out.');
    }
    return (model) =>
      saving.save(model, {
        kind: 'external_weights',
        name: body.path,
        overwrite: true,
        ttlSeconds: body.ttl_seconds ?? undefined,
        userMetadata: undefined,
      });
  });

  app.post('/load_weights', async (context) => {
    const sent = await readBytes(context, maxBodyBytes);
    const bytes = sent.bytes.length;
    const promise = await refusing(
      () => peekJson(sent.bytes),
      () => {
        const body = parseBody(loadWeightsRequestSchema, jsonOf(sent, maxBodyBytes));
        const { model_id: modelId, session_id, model_seq_id, path } = body;
        const optimizer = body.optimizer ?? false;
        if (isGiven(modelId)) {
          const run = (model: TrainingModel): Promise<Result> => training.load(model, path, optimizer);
          return training.submit({ kind: 'load_weights', modelId, seqId: body.seq_id ?? undefined, bytes, run });
        }
        if (!isGiven(session_id) || !isGiven(model_seq_id)) {
          throw userFault('model_id, or session_id and model_seq_id, are needed to load weights.');
        }
        const { user_metadata, optimizer_config } = body;
        const base_model = body.base_model ?? undefined;
        return training.createByLoad({
          session_id,
          model_seq_id,
          base_model,
          user_metadata,
          optimizer_config,
          path,
          optimizer,
        });
      },
    );
    return context.json(promise);
  });
  app.post('/unload_model', async (context) => {
    const { value } = await readJson(context, maxBodyBytes);
    return context.json(training.unload(parseBody(modelRequestSchema, value).model_id));
  });
  app.post('/get_info', async (context) => {
    const { value } = await readJson(context, maxBodyBytes);
    const model = training.get(parseBody(modelRequestSchema, value).model_id);
    await model.ready();
    parts.sessions.touch(model.sessionId);
    const { served, baseModel, lora } = model;
    return context.json({
      type: 'get_info',
      model_id: model.id,
      model_data: {
        ...(served.architecture === undefined ? {} : { arch: served.architecture }),
        model_name: baseModel,
        ...(served.tokenizerId === undefined ? {} : { tokenizer_id: served.tokenizerId }),
      },
      is_lora: lora !== undefined,
      ...(lora === undefined ? {} : { lora_rank: lora.rank }),
      model_name: baseModel,
      optimizer_config: { type: 'adamw' },
    });
  });
}
