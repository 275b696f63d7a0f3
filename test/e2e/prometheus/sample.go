package main

import (
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// at is one value at one time, as the engine reads it.
type at struct {
	ms    int64
	value float64
}

func (sample at) T() int64                      { return sample.ms }
func (sample at) ST() int64                     { return 0 }
func (sample at) F() float64                    { return sample.value }
func (sample at) H() *histogram.Histogram       { return nil }
func (sample at) FH() *histogram.FloatHistogram { return nil }
func (sample at) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (sample at) Copy() chunks.Sample           { return sample }
