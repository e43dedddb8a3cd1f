// The four recipes of tinker-cookbook as they are started from a shell, on the working directory that tiny-model.ts
// lays out. Arguments only; what must come of them is parts/cookbook.ts.

import { BASE_MODEL } from './our-server.ts';

export type RecipeName = 'sl_loop' | 'sl_basic' | 'rl_loop' | 'rl_basic';

export type RecipeOptions = {
  readonly url: string;
  /** Metrics and checkpoints. */
  readonly logPath: string;
  readonly steps: number;
  /** Whether `rl_loop` has the option `loss_fn`, whose default is a loss of the hosted service alone. */
  readonly choosesLoss: boolean;
  /** Where reinforcement learning begins: the state that supervised learning saved. */
  readonly state?: string;
};

const COMMON = [`model_name=${BASE_MODEL}`, 'lora_rank=8'] as const;
/** Every question once a supervised step, half of them a policy step. */
const BATCH = 8;
const POLICY_BATCH = 4;
const GROUP = 16;
/** Ten times the second, a policy step tips whole questions from always right to always wrong and back. */
const SUPERVISED_RATE = 0.004;
const POLICY_RATE = 0.0005;

export function recipeArguments(name: RecipeName, options: RecipeOptions): readonly string[] {
  const { url, logPath, steps, state } = options;
  const common = [`base_url=${url}`, `log_path=${logPath}`, `max_steps=${steps}`, ...COMMON];
  switch (name) {
    case 'sl_loop':
      return [...common, `batch_size=${BATCH}`, 'save_every=10', `learning_rate=${SUPERVISED_RATE}`, TRAIN_ON];
    case 'sl_basic': {
      const builder = 'tinker_cookbook.supervised.data:FromConversationFileBuilder';
      const shared = [
        ...[`model_name_for_tokenizer=${BASE_MODEL}`, 'renderer_name=qwen3', 'max_length=512', `batch_size=${BATCH}`],
        TRAIN_ON,
      ];
      return [
        ...[...common, `dataset_builder=${builder}`, 'dataset_builder.file_path=conversations.jsonl'],
        ...[
          ...shared.map((one) => `dataset_builder.common_config.${one}`),
          'eval_every=0',
          `learning_rate=${SUPERVISED_RATE}`,
        ],
      ];
    }
    case 'rl_loop': {
      const loss = options.choosesLoss ? ['loss_fn=importance_sampling'] : [];
      const size = [
        `batch_size=${POLICY_BATCH}`,
        `group_size=${GROUP}`,
        'max_tokens=24',
        `learning_rate=${POLICY_RATE}`,
        'save_every=4',
      ];
      return [...common, ...size, ...loss];
    }
    case 'rl_basic': {
      const builder = 'tinker_cookbook.recipes.math_rl.math_env:Gsm8kDatasetBuilder';
      const size = [
        `batch_size=${POLICY_BATCH}`,
        `group_size=${GROUP}`,
        'renderer_name=qwen3',
        `model_name_for_tokenizer=${BASE_MODEL}`,
      ];
      return [
        ...[...common, `dataset_builder=${builder}`, ...size.map((one) => `dataset_builder.${one}`)],
        ...['max_tokens=24', 'eval_every=0', `learning_rate=${POLICY_RATE}`, `load_checkpoint_path=${state}`],
      ];
    }
  }
}

/** The few-shot example before the question is no answer to learn. */
const TRAIN_ON = 'train_on_what=last_assistant_message';
