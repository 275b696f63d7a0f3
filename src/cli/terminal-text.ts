/** Text from elsewhere on its way to a terminal. */
export { escapeControls } from '../printable.ts';
