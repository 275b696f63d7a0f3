package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

const (
	gridNamespace = "default"
	queuedEvents  = 10
	scanRounds    = 5
)

// runReaders measures the grid of client-go's own BenchmarkSharedIndexInformer. With a source and an empty grid it
// measures lists by label and full scans over the pods of the source.
func runReaders(asked task) (result, error) {
	podCounts, readers := asked.PodCounts, asked.Readers
	if podCounts == nil && len(readers) == 1 {
		podCounts = []int{asked.Objects}
	} else if podCounts == nil {
		podCounts = []int{10_000, 20_000, 40_000, 80_000, 160_000}
	}
	if readers == nil {
		readers = []int{0, 1, 10, 20, 40, 80}
	}
	answer := result{}
	for _, count := range podCounts {
		pods := gridPods(count)
		for _, number := range readers {
			rows, err := measureCell(pods, number, time.Duration(asked.CellMs)*time.Millisecond)
			if err != nil {
				return answer, err
			}
			answer.Rows = append(answer.Rows, rows...)
		}
	}
	if asked.URL == "" || len(podCounts) > 0 {
		return answer, nil
	}
	rows, err := measureLists(asked)
	answer.Rows = append(answer.Rows, rows...)
	answer.RSSBytes = peakBytes()
	return answer, err
}

func gridPods(count int) []corev1.Pod {
	pods := make([]corev1.Pod, count)
	for index := range pods {
		pods[index].Namespace = gridNamespace
		pods[index].Name = fmt.Sprintf("%020d", rand.Uint64())
	}
	return pods
}

// measureCell modifies one pod after the other through an informer without a server, while readers list the
// namespace from its index again and again. The settings are those of the upstream benchmark.
func measureCell(pods []corev1.Pod, readers int, duration time.Duration) ([]row, error) {
	watcher := watch.NewFakeWithChanSize(1, false)
	informer := gridInformer(watcher, pods)
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	wait.Go(func() { informer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return nil, fmt.Errorf("the informer of %d pods did not sync", len(pods))
	}
	var writes, reads atomic.Int64
	taken := make(chan struct{}, queuedEvents)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) {
		writes.Add(1)
		select {
		case <-taken:
		default:
		}
	}})
	if err != nil {
		return nil, err
	}
	modify := func() {
		pod := pods[rand.IntN(len(pods))]
		watcher.Modify(&pod)
	}
	modify()
	for writes.Load() == 0 { // all pods of the list were handled before
		time.Sleep(time.Millisecond)
	}
	for range readers {
		wait.Go(func() { readUntil(ctx, informer.GetIndexer(), &reads) })
	}
	writes.Store(0)
	reads.Store(0)
	started := time.Now()
	for time.Since(started) < duration {
		modify()
		taken <- struct{}{}
	}
	seconds := time.Since(started).Seconds()
	name := fmt.Sprintf("podCount=%d/readers=%d", len(pods), readers)
	rows := []row{{Case: name + "/writes", Value: float64(writes.Load()) / seconds, Unit: "events/s"}}
	if readers > 0 {
		rows = append(rows, row{Case: name + "/reads", Value: float64(reads.Load()) / seconds, Unit: "reads/s"})
	}
	return rows, nil
}

// plainListWatch declares that its watch sends no initial events; otherwise the informer would wait for them.
type plainListWatch struct{ *cache.ListWatch }

func (plainListWatch) IsWatchListSemanticsUnSupported() bool { return true }

func gridInformer(watcher watch.Interface, pods []corev1.Pod) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformerWithOptions(
		plainListWatch{&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.PodList{Items: pods}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return watcher, nil
			},
		}},
		&corev1.Pod{},
		cache.SharedIndexInformerOptions{
			ResyncPeriod: time.Minute,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		},
	)
}

func readUntil(ctx context.Context, indexer cache.Indexer, reads *atomic.Int64) {
	for ctx.Err() == nil {
		err := cache.ListAllByNamespace(indexer, gridNamespace, labels.Everything(), func(any) {})
		if err != nil {
			return
		}
		reads.Add(1)
	}
}

// measureLists reads the pods of the source through the lister. Cold is the first call, warm the median of the next
// ones. In both cases client-go has parsed the objects already.
func measureLists(asked task) ([]row, error) {
	pods, err := syncPods(asked, &meter{})
	if err != nil {
		return nil, err
	}
	defer pods.close()
	lister := pods.factory.Core().V1().Pods().Lister()
	touch := newToucher("object")
	scan := func(selector labels.Selector) (int, error) {
		found, err := lister.List(selector)
		for _, pod := range found {
			touch.pod(pod)
		}
		return len(found), err
	}
	var rows []row
	for _, list := range []struct {
		name     string
		selector labels.Selector
	}{
		{"list by label", labels.SelectorFromSet(labels.Set{"app": "web"})},
		{"full scan", labels.Everything()},
	} {
		cold, warm, found, err := timed(func() (int, error) { return scan(list.selector) })
		if err != nil {
			return rows, err
		}
		name := fmt.Sprintf("%s/objects=%d/found=%d", list.name, asked.Objects, found)
		rows = append(rows, row{name + "/cold", cold, "ms"}, row{name + "/warm", warm, "ms"})
	}
	return rows, nil
}

// timed returns the milliseconds of the first call and the median of the following ones.
func timed(call func() (int, error)) (cold, warm float64, found int, err error) {
	var times []float64
	for range 1 + scanRounds {
		started := time.Now()
		if found, err = call(); err != nil {
			return 0, 0, 0, err
		}
		times = append(times, milliseconds(time.Since(started)))
	}
	cold, times = times[0], times[1:]
	slices.Sort(times)
	return cold, times[len(times)/2], found, nil
}
