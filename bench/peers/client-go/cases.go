package main

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	corev1 "k8s.io/api/core/v1"
)

// sentAnnotation is the wall-clock time at which the source sent the event, in microseconds since the epoch.
const sentAnnotation = "kubeloom.io/sent-us"

type latency struct {
	P50Us  int64 `json:"p50Us"`
	P90Us  int64 `json:"p90Us"`
	P99Us  int64 `json:"p99Us"`
	P999Us int64 `json:"p999Us"`
	MaxUs  int64 `json:"maxUs"`
}

// runWatch measures the MODIFIED events that follow the list, from the first to the last.
func runWatch(asked task) (result, error) {
	pods, err := newPodInformer(asked)
	if err != nil {
		return result{}, err
	}
	defer pods.close()
	touch, histogram := newToucher(asked.Handler), hdrhistogram.New(1, 600_000_000, 3)
	done, measured, seen := make(chan struct{}), meter{}, 0
	onUpdate := func(pod *corev1.Pod) {
		if seen++; seen > asked.Events {
			return
		}
		if seen <= asked.WarmUpEvents {
			touch.pod(pod)
			return
		}
		if measured.events == 0 {
			measured.begin()
		}
		measured.add(touch.pod(pod))
		if asked.Case == "latency" {
			record(histogram, pod)
		}
		if seen == asked.Events {
			measured.end()
			close(done)
		}
	}
	if err := pods.start(func(pod *corev1.Pod) { touch.pod(pod) }, onUpdate); err != nil {
		return result{}, err
	}
	if err := pods.await(done, asked); err != nil {
		return result{}, err
	}
	answer := measured.result()
	if asked.Case == "latency" {
		answer.Latency = quantiles(histogram)
	}
	return answer, nil
}

func record(histogram *hdrhistogram.Histogram, pod *corev1.Pod) {
	sent, err := strconv.ParseInt(pod.Annotations[sentAnnotation], 10, 64)
	if err == nil {
		// A value out of range is more than ten minutes; the count would show it.
		_ = histogram.RecordValue(max(1, time.Now().UnixMicro()-sent))
	}
}

func quantiles(histogram *hdrhistogram.Histogram) *latency {
	if histogram.TotalCount() == 0 {
		return nil
	}
	at := histogram.ValueAtQuantile
	return &latency{P50Us: at(50), P90Us: at(90), P99Us: at(99), P999Us: at(99.9), MaxUs: histogram.Max()}
}

// runSync measures from the creation of the client until the handler has received every object.
func runSync(asked task) (result, error) {
	measured := meter{}
	measured.begin()
	pods, err := syncPods(asked, &measured)
	if err != nil {
		return result{}, err
	}
	defer pods.close()
	return measured.result(), nil
}

// runMemory runs runSync, and then measures the memory of the process. The source must send no events.
func runMemory(asked task) (result, error) {
	measured := meter{}
	measured.begin()
	pods, err := syncPods(asked, &measured)
	if err != nil {
		return result{}, err
	}
	defer pods.close()
	answer := measured.result()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	answer.HeapBytes = memory.HeapAlloc
	debug.FreeOSMemory()
	answer.Settled = residentBytes()
	runtime.KeepAlive(pods)
	return answer, nil
}

func syncPods(asked task, measured *meter) (*podInformer, error) {
	pods, err := newPodInformer(asked)
	if err != nil {
		return nil, err
	}
	touch, done := newToucher(asked.Handler), make(chan struct{})
	err = pods.start(func(pod *corev1.Pod) {
		if measured.events == asked.Objects {
			return
		}
		measured.add(touch.pod(pod))
		if measured.events == asked.Objects {
			measured.end()
			close(done)
		}
	}, nil)
	if err == nil {
		err = pods.await(done, asked)
	}
	if err != nil {
		pods.close()
		return nil, err
	}
	return pods, nil
}
