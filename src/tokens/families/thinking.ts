// Where an assistant's thinking comes from in the templates of Qwen: its own field, or else what stands before
// `</think>` in the content.

export type SplitTurn = { readonly thinking: string; readonly content: string };

export function splitThinking(thinking: string | undefined, content: string): SplitTurn {
  if (thinking !== undefined) return { thinking, content };
  const parts = content.split('</think>');
  if (parts.length === 1) return { thinking: '', content };
  const before = (parts[0] ?? '').replace(/\n+$/, '');
  return {
    thinking: (before.split('<think>').at(-1) ?? '').replace(/^\n+/, ''),
    content: (parts.at(-1) ?? '').replace(/^\n+/, ''),
  };
}
