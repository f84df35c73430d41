// The carriers that work on this machine: the addon may not be built here.
import { hasRegisterReader } from '../../src/recording.js';

export const hasRegister = hasRegisterReader();

export const carriers = hasRegister ? (['register', 'trampoline', 'both'] as const) : (['trampoline'] as const);
