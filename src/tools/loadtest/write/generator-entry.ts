/** The program of a generator's process. The program is in the folder of this file, compiled or bundled. */
import { fileURLToPath } from 'node:url';

export const GENERATOR_ENTRY: string = fileURLToPath(new URL('./generator-process.js', import.meta.url));
