/** The columns of the tables that kubectl prints. */

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  /** Absent if every column with this name has the description of the table of built-in kinds. */
  readonly description?: string;
  /** 0 for a column that kubectl always prints, and the default. */
  readonly priority?: number;
  /** Path of the cell in an object of a custom kind. */
  readonly jsonPath?: string;
}
