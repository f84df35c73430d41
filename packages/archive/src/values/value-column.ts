// The values of one key and type in a block, as a column. Values of one kind stand together, so that they compress together.
import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { ArchivedDouble, type ArchivedValue } from 'spanline/internal/record';
import { TextColumn, writeTexts } from './texts.js';
import { readValue, ValueType, writeValue } from './values.js';

const REAL_BYTES = 8;

/** Bytes of one significance together: signs and exponents repeat, fractions do not. */
const writeReals = (writer: ByteWriter, values: readonly number[]): void => {
  const view = new DataView(new ArrayBuffer(values.length * REAL_BYTES));
  values.forEach((value, i) => {
    view.setFloat64(i * REAL_BYTES, value, true);
  });
  for (let plane = 0; plane < REAL_BYTES; plane++) {
    for (let i = 0; i < values.length; i++) writer.byte(view.getUint8(i * REAL_BYTES + plane));
  }
};

const readReals = (reader: ByteReader, count: number): Float64Array => {
  const planes = reader.raw(count * REAL_BYTES);
  const view = new DataView(new ArrayBuffer(count * REAL_BYTES));
  for (let plane = 0; plane < REAL_BYTES; plane++) {
    for (let i = 0; i < count; i++) view.setUint8(i * REAL_BYTES + plane, planes[plane * count + i]);
  }
  return Float64Array.from({ length: count }, (_, i) => view.getFloat64(i * REAL_BYTES, true));
};

/** Append the values of a column, all of `type`. */
export const writeColumn = (writer: ByteWriter, type: number, values: readonly ArchivedValue[]): void => {
  if (type === ValueType.text) writeTexts(writer, values as readonly string[]);
  else if (type === ValueType.real) writeReals(writer, values as readonly number[]);
  else if (type === ValueType.double) writeReals(writer, (values as readonly ArchivedDouble[]).map(Number));
  else for (const value of values) writeValue(writer, type, value);
};

/** Values by their place in a column. */
export interface ValueColumn {
  get(place: number): ArchivedValue;
}

const constant = (value: boolean): ValueColumn => ({ get: () => value });

/** Read a column of `count` values; the caller has capped `count` by the bytes there are. */
export const readColumn = (reader: ByteReader, type: number, count: number): ValueColumn => {
  switch (type) {
    case ValueType.text:
      return TextColumn.read(reader, count);
    case ValueType.real: {
      const values = readReals(reader, count);
      return { get: (place) => values[place] };
    }
    case ValueType.double: {
      const values = readReals(reader, count);
      return { get: (place) => new ArchivedDouble(values[place]) };
    }
    case ValueType.empty:
      return { get: () => null };
    case ValueType.no:
    case ValueType.yes:
      return constant(type === ValueType.yes);
    default: {
      const values: ArchivedValue[] = [];
      for (let i = 0; i < count; i++) values.push(readValue(reader, type));
      return { get: (place) => values[place] };
    }
  }
};
