/** Text from objects, servers and files, escaped for a terminal. */
export { escapeControls, escapeStack } from '../base/printable.ts';
