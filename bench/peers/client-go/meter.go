package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// meter counts events between begin and end, with the wall-clock and CPU time between the two.
type meter struct {
	events   int
	checksum int
	started  time.Time
	elapsed  time.Duration
	cpu      time.Duration
}

func (m *meter) begin() { m.started, m.cpu = time.Now(), cpuTime() }

func (m *meter) add(keyLength int) {
	m.events++
	m.checksum += keyLength
}

func (m *meter) end() { m.elapsed, m.cpu = time.Since(m.started), cpuTime()-m.cpu }

func (m *meter) result() result {
	return result{
		Events:    m.events,
		Checksum:  m.checksum,
		ElapsedMs: milliseconds(m.elapsed),
		CPUMs:     milliseconds(m.cpu),
		RSSBytes:  peakBytes(),
	}
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}

// cpuTime is user and system time of this process.
func cpuTime() time.Duration {
	used := usage()
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func peakBytes() uint64 { return uint64(usage().Maxrss) * 1024 }

func usage() syscall.Rusage {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for no argument that is valid
	return used
}

// residentBytes returns 0 on systems without /proc.
func residentBytes() uint64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// toucher reads the parts of a pod that the handler of each kind reads.
type toucher struct {
	handler string
	sum     int // of all that was read, so that no read is for nothing
}

func newToucher(handler string) *toucher { return &toucher{handler: handler} }

// pod reads a pod and returns the length of its key.
func (t *toucher) pod(pod *corev1.Pod) int {
	key, err := cache.MetaNamespaceKeyFunc(pod)
	if err != nil {
		return 0
	}
	switch t.handler {
	case "metadata":
		t.sum += len(pod.Labels["app"]) + len(pod.Labels) + len(pod.ResourceVersion)
	case "fields":
		t.sum += len(pod.Labels) + len(pod.Spec.NodeName) + len(pod.Status.Phase) + len(pod.Status.PodIP)
		if owner := metav1.GetControllerOf(pod); owner != nil {
			t.sum += len(owner.UID)
		}
	case "object":
		t.sum += len(pod.Spec.NodeName) + len(pod.Status.Phase) + len(pod.Spec.Containers)
	}
	return len(key)
}
