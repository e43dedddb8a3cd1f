// Numbers of `tokenizer.ggml.token_type` in a GGUF file (`enum llama_token_type`). Numbers only; who reads or writes what
// is in the files beside this one.

export const TOKEN_TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;
