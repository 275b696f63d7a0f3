package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

const (
	samplesMax    = 50_000_000
	timeoutOfOne  = time.Minute
	lookBackDelta = 5 * time.Minute
)

// asked is the input of `query`: what was scraped, and the range queries to evaluate over it.
type asked struct {
	// Scrapes are in the order of their times.
	Scrapes []struct {
		AtMs int64  `json:"atMs"`
		Text string `json:"text"`
	} `json:"scrapes"`
	// Labels that the scraper adds to every series.
	Labels  map[string]string `json:"labels"`
	Queries []string          `json:"queries"`
	StartMs int64             `json:"startMs"`
	EndMs   int64             `json:"endMs"`
	StepMs  int64             `json:"stepMs"`
}

// answered is one series of a query's result. A value is a pair of milliseconds and a number.
type answered struct {
	Labels map[string]string `json:"labels"`
	Values [][2]float64      `json:"values"`
}

// query writes one JSON array for each query, in their order.
func query(input io.Reader, output io.Writer) error {
	var task asked
	if err := json.NewDecoder(input).Decode(&task); err != nil {
		return fmt.Errorf("the input is not JSON of a query: %w", err)
	}
	scraped := scrapes{}
	for _, scrape := range task.Scrapes {
		if err := scraped.add(scrape.AtMs, scrape.Text, task.Labels); err != nil {
			return err
		}
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples:    samplesMax,
		Timeout:       timeoutOfOne,
		LookbackDelta: lookBackDelta,
		Parser:        parser.NewParser(parser.Options{}),
	})
	defer engine.Close()
	results := make([][]answered, 0, len(task.Queries))
	for _, text := range task.Queries {
		result, err := evaluate(engine, scraped, text, task)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		results = append(results, result)
	}
	return json.NewEncoder(output).Encode(results)
}

func evaluate(engine *promql.Engine, scraped scrapes, text string, task asked) ([]answered, error) {
	ctx := context.Background()
	step := time.Duration(task.StepMs) * time.Millisecond
	start, end := time.UnixMilli(task.StartMs), time.UnixMilli(task.EndMs)
	ranged, err := engine.NewRangeQuery(ctx, scraped.queryable(), nil, text, start, end, step)
	if err != nil {
		return nil, err
	}
	defer ranged.Close()
	matrix, err := ranged.Exec(ctx).Matrix()
	if err != nil {
		return nil, err
	}
	series := []answered{}
	for _, one := range matrix {
		values := [][2]float64{}
		for _, point := range one.Floats {
			// JSON has no NaN and no infinity: such a point is left out, and a chart has a gap.
			if !math.IsNaN(point.F) && !math.IsInf(point.F, 0) {
				values = append(values, [2]float64{float64(point.T), point.F})
			}
		}
		series = append(series, answered{Labels: one.Metric.Map(), Values: values})
	}
	return series, nil
}

// scrapes is every series by its labels.
type scrapes map[string]*recorded

type recorded struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// add keeps the samples of one scrape. A series that was in the scrape before and is not in this one becomes stale, as
// in Prometheus.
func (all scrapes) add(atMs int64, text string, added map[string]string) error {
	textParser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := textParser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("the scrape at %d cannot be parsed: %w", atMs, err)
	}
	seen := map[string]bool{}
	keep := func(name string, pairs []*dto.LabelPair, sample float64, le ...string) {
		builder := labels.NewBuilder(labels.FromMap(added)).Set(labels.MetricName, name)
		for _, pair := range pairs {
			builder.Set(pair.GetName(), pair.GetValue())
		}
		if len(le) > 0 {
			builder.Set(labels.BucketLabel, le[0])
		}
		ofSeries := builder.Labels()
		key := ofSeries.String()
		seen[key] = true
		if all[key] == nil {
			all[key] = &recorded{labels: ofSeries}
		}
		all[key].samples = append(all[key].samples, at{ms: atMs, value: sample})
	}
	for name, family := range families {
		for _, metric := range family.Metric {
			keepMetric(name, metric, keep)
		}
	}
	for key, series := range all {
		last := series.samples[len(series.samples)-1]
		if !seen[key] && !value.IsStaleNaN(last.F()) {
			series.samples = append(series.samples, at{ms: atMs, value: math.Float64frombits(value.StaleNaN)})
		}
	}
	return nil
}

func keepMetric(name string, metric *dto.Metric, keep func(string, []*dto.LabelPair, float64, ...string)) {
	switch {
	case metric.Counter != nil:
		keep(name, metric.Label, metric.Counter.GetValue())
	case metric.Gauge != nil:
		keep(name, metric.Label, metric.Gauge.GetValue())
	case metric.Histogram != nil:
		for _, bucket := range metric.Histogram.Bucket {
			le := strconv.FormatFloat(bucket.GetUpperBound(), 'g', -1, 64)
			keep(name+"_bucket", metric.Label, float64(bucket.GetCumulativeCount()), le)
		}
		keep(name+"_sum", metric.Label, metric.Histogram.GetSampleSum())
		keep(name+"_count", metric.Label, float64(metric.Histogram.GetSampleCount()))
	}
}

// queryable gives the engine the series that match.
func (all scrapes) queryable() storage.Queryable {
	selected := func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := []storage.Series{}
		for _, series := range all {
			matches := func(matcher *labels.Matcher) bool {
				return !matcher.Matches(series.labels.Get(matcher.Name))
			}
			if !slices.ContainsFunc(matchers, matches) {
				found = append(found, storage.NewListSeries(series.labels, series.samples))
			}
		}
		slices.SortFunc(found, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
		return &seriesSet{series: found, index: -1}
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: selected}}
}

type seriesSet struct {
	series []storage.Series
	index  int
}

func (set *seriesSet) Next() bool {
	set.index++
	return set.index < len(set.series)
}
func (set *seriesSet) At() storage.Series                { return set.series[set.index] }
func (set *seriesSet) Err() error                        { return nil }
func (set *seriesSet) Warnings() annotations.Annotations { return nil }
