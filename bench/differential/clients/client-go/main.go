// Command client-go is client-go's ordinary informer for the differential table: on pods, at the kubeconfig whose path
// is its only argument. It prints one line of JSON for every call of its handler, and the content of its store when a
// line "state" comes in.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// line is a line of output for the runner; t is in milliseconds since the epoch.
type line struct {
	T       float64           `json:"t"`
	Kind    string            `json:"kind"`
	Key     string            `json:"key,omitempty"`
	RV      string            `json:"rv,omitempty"`
	UID     string            `json:"uid,omitempty"`
	Unknown bool              `json:"unknown,omitempty"`
	Text    string            `json:"text,omitempty"`
	Client  string            `json:"client,omitempty"`
	Version string            `json:"version,omitempty"`
	Objects map[string]string `json:"objects,omitempty"`
}

var output sync.Mutex

func say(told line) {
	told.T = float64(time.Now().UnixMicro()) / 1000
	output.Lock()
	defer output.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(told)
}

func main() {
	if err := run(); err != nil {
		say(line{Kind: "error", Text: err.Error()})
		say(line{Kind: "stopped"})
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: %s KUBECONFIG", os.Args[0])
	}
	say(line{Kind: "client", Client: "client-go", Version: version()})
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		return err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(clientset, 0)
	pods := factory.Core().V1().Pods().Informer()
	err = pods.SetWatchErrorHandlerWithContext(func(ctx context.Context, reflector *cache.Reflector, err error) {
		say(line{Kind: "error", Text: err.Error()})
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	})
	if err != nil {
		return err
	}
	_, err = pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { sayPod("add", object) },
		UpdateFunc: func(_, object any) { sayPod("update", object) },
		DeleteFunc: sayDeleted,
	})
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	factory.StartWithContext(ctx)
	go answer(pods.GetStore(), cancel)
	if cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		say(line{Kind: "synced"})
	}
	<-ctx.Done()
	factory.Shutdown()
	sayState(pods.GetStore())
	say(line{Kind: "stopped"})
	return nil
}

// answer serves requests, and ends the program when standard input closes.
func answer(store cache.Store, end func()) {
	defer end()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "state" {
			sayState(store)
		}
	}
}

func sayState(store cache.Store) {
	objects := map[string]string{}
	for _, object := range store.List() {
		if pod, ok := object.(*corev1.Pod); ok {
			objects[keyOf(pod)] = pod.ResourceVersion
		}
	}
	say(line{Kind: "state", Objects: objects})
}

func sayPod(kind string, object any) {
	if pod, ok := object.(*corev1.Pod); ok {
		say(line{Kind: kind, Key: keyOf(pod), RV: pod.ResourceVersion, UID: string(pod.UID)})
	}
}

func sayDeleted(object any) {
	tombstone, ok := object.(cache.DeletedFinalStateUnknown)
	if !ok {
		sayPod("delete", object)
		return
	}
	told := line{Kind: "delete", Key: tombstone.Key, Unknown: true}
	if pod, ok := tombstone.Obj.(*corev1.Pod); ok {
		told.RV, told.UID = pod.ResourceVersion, string(pod.UID)
	}
	say(told)
}

func keyOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// version returns the version of client-go in go.mod.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/client-go" {
				return module.Version
			}
		}
	}
	return "unknown"
}
