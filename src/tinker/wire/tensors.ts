// Tensors of the model: made of plain numbers, checked against their shape, written out of sparse form. Pure.

import type { Tensor, TensorDtype, TopkTable } from './model.ts';
import type { DecodeLimits } from './limits.ts';
import { malformed, tooLarge, unsendable } from './wire-error.ts';

export function floatTensor(values: ArrayLike<number>, shape: readonly number[] = [values.length]): Tensor {
  return { dtype: 'float32', shape, values: values instanceof Float32Array ? values : Float32Array.from(values) };
}

export function intTensor(values: ArrayLike<number>, shape: readonly number[] = [values.length]): Tensor {
  return { dtype: 'int64', shape, values: values instanceof Float64Array ? values : Float64Array.from(values) };
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, side) => product * side, 1);
}

/** The tensor, if its parts fit each other. */
export function checkTensor(tensor: Tensor, where: string, limits: DecodeLimits): Tensor {
  const { shape, values, sparse } = tensor;
  if (!shape.every((side) => Number.isSafeInteger(side) && side >= 0)) {
    throw malformed(where, `[${shape.join(', ')}] is no shape`);
  }
  const size = sizeOf(shape);
  if (size > limits.maxElements) throw tooLarge(`${where}: elements`, size, limits.maxElements);
  if (sparse === undefined) {
    if (size !== values.length) throw malformed(where, `${values.length} values do not fill [${shape.join(', ')}]`);
    return tensor;
  }
  checkSparse(tensor, where);
  return tensor;
}

function checkSparse({ shape, values, sparse }: Tensor, where: string): void {
  if (shape.length !== 2) throw malformed(where, `a sparse tensor has two dimensions, not ${shape.length}`);
  const { rowStarts, columns } = sparse!;
  const [rows, width] = shape;
  if (rowStarts.length !== rows + 1) throw malformed(where, `${rowStarts.length} row starts for ${rows} rows`);
  if (columns.length !== values.length) throw malformed(where, `${columns.length} columns for ${values.length} values`);
  const rising = rowStarts.every((start, row) => start >= (row === 0 ? 0 : rowStarts[row - 1]));
  if (rowStarts[0] !== 0 || rowStarts[rows] !== values.length || !rising) {
    throw malformed(where, `row starts do not rise from 0 to ${values.length}`);
  }
  if (!columns.every((column) => column >= 0 && column < width)) throw malformed(where, `a column beyond ${width}`);
}

/** All elements, row after row; those that a sparse tensor leaves out are 0. Entries of the same cell add up, as in torch. */
export function denseValues({ dtype, shape, values, sparse }: Tensor): Float32Array | Float64Array {
  if (sparse === undefined) return values;
  const [rows, width] = shape;
  const out = dtype === 'float32' ? new Float32Array(rows * width) : new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let i = sparse.rowStarts[row]; i < sparse.rowStarts[row + 1]; i++) {
      out[row * width + sparse.columns[i]] += values[i];
    }
  }
  return out;
}

/** The CSR form of a matrix. */
export function toSparse(tensor: Tensor): Tensor {
  const { shape, values, dtype } = tensor;
  if (tensor.sparse !== undefined) return tensor;
  if (shape.length !== 2) throw unsendable('a sparse tensor', `has two dimensions, not ${shape.length}`);
  const [rows, width] = shape;
  const kept: number[] = [];
  const columns: number[] = [];
  const rowStarts = [0];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < width; column++) {
      const value = values[row * width + column];
      if (value === 0) continue;
      kept.push(value);
      columns.push(column);
    }
    rowStarts.push(kept.length);
  }
  const sparse = { rowStarts: Float64Array.from(rowStarts), columns: Float64Array.from(columns) };
  return { dtype, shape, values: arrayOf(dtype, kept), sparse };
}

export function arrayOf(dtype: TensorDtype, values: readonly number[]): Float32Array | Float64Array {
  return dtype === 'float32' ? Float32Array.from(values) : Float64Array.from(values);
}

/** What stands in a cell of a table where there is no token. */
export const EMPTY_CELL = { token: 0, logprob: -99999 } as const;

export type TopkRow = readonly { readonly token: number; readonly logprob: number }[];

export function topkTable(rows: readonly TopkRow[], k: number): TopkTable {
  const tokens = new Int32Array(rows.length * k).fill(EMPTY_CELL.token);
  const logprobs = new Float32Array(rows.length * k).fill(EMPTY_CELL.logprob);
  rows.forEach((row, i) =>
    row.slice(0, k).forEach((cell, j) => {
      tokens[i * k + j] = cell.token;
      logprobs[i * k + j] = cell.logprob;
    }),
  );
  return { k, length: rows.length, tokens, logprobs };
}

export function topkRows({ k, length, tokens, logprobs }: TopkTable): readonly TopkRow[] {
  return Array.from({ length }, (_, row) => {
    const cells = Array.from({ length: k }, (_, i) => ({
      token: tokens[row * k + i],
      logprob: logprobs[row * k + i],
    }));
    return cells.filter(({ logprob }) => logprob !== EMPTY_CELL.logprob);
  });
}

export function checkTopk(table: TopkTable, where: string): TopkTable {
  const size = table.k * table.length;
  // Rows without cells take no room on the wire, so that nothing would bound their number.
  if (table.k <= 0 && table.length > 0) throw malformed(where, `${table.length} rows of ${table.k} cells`);
  if (table.tokens.length !== size || table.logprobs.length !== size) {
    throw malformed(where, `${table.tokens.length} cells are not ${table.length} rows of ${table.k}`);
  }
  return table;
}
