/** A plot as data: the report decides what it shows, and a small script of the page draws it. */
import type { Mark } from '../result.ts';
import type { Unit } from './value-text.ts';

export interface Plot {
  /** The id of the plot's element. */
  readonly id: string;
  readonly title: string;
  readonly x: TimeAxis | BinAxis;
  readonly y: {
    readonly unit: Unit;
    /** `asinh`: logarithmic on both sides of 0. */
    readonly scale: 'linear' | 'log' | 'asinh';
    /** The smallest maximum of the axis. */
    readonly max: number | null;
  };
  readonly lines: readonly Line[];
}

export interface TimeAxis {
  readonly type: 'time';
  /** Seconds since the start of the run. */
  readonly values: readonly number[];
  readonly endSeconds: number;
  /** The index of the plot's marks and phases. */
  readonly timeline: number;
}

/** Buckets of equal width on the page, each from a label to the next. */
export interface BinAxis {
  readonly type: 'bins';
  readonly values: readonly number[];
  /** The lower end of each bucket as text. */
  readonly labels: readonly string[];
  /** Buckets with a label on the axis. */
  readonly ticks: readonly number[];
}

export interface Line {
  readonly label: string;
  /** A colour of the page, from 0. */
  readonly color: number;
  readonly style: 'solid' | 'dashed' | 'faint' | 'area' | 'steps';
  readonly values: readonly (number | null)[];
  /** True if a missing value is not a gap, for figures that are read less often than once a second. */
  readonly isSparse: boolean;
}

export interface Timeline {
  readonly phases: readonly { readonly name: string; readonly from: number; readonly to: number }[];
  readonly marks: readonly TimeMark[];
}

/** All events of a type in a second. */
export interface TimeMark {
  readonly atSeconds: number;
  readonly type: Mark['type'];
  readonly count: number;
  readonly text: string;
}

export interface PlotData {
  readonly timelines: readonly Timeline[];
  readonly plots: readonly Plot[];
}
