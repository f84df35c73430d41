// Imports a library from where the libraries are.
export const load = (name) => import(name);
