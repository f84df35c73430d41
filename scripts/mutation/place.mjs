// Where a mutant is and what it puts there, as one string: what tells it from all other mutants of one state of the sources.

export const placeOf = ({ file, location: { start, end }, mutatorName, replacement }) =>
  JSON.stringify([file, start.line, start.column, end.line, end.column, mutatorName, replacement]);
