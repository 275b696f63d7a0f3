package main

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// podReconciler reads the cached pod and returns.
type podReconciler struct {
	reader     client.Reader
	unmeasured int64         // reconciliations before the section: of the list, and of the first events
	begun      chan struct{} // closed when they are done
	done       atomic.Int64
	touched    atomic.Int64
}

func (r *podReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pod := corev1.Pod{}
	if err := r.reader.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.touched.Add(int64(len(pod.Status.Phase)))
	if r.done.Add(1) == r.unmeasured {
		close(r.begun)
	}
	return ctrl.Result{}, nil
}

// runController measures a controller of controller-runtime in a section after its list, the first events and a pause.
func runController(asked task) (result, error) {
	config, err := configOf(asked)
	if err != nil {
		return result{}, err
	}
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:        server.Options{BindAddress: "0"},
		MapperProvider: podMapper,
	})
	if err != nil {
		return result{}, err
	}
	reconciler := &podReconciler{
		reader:     manager.GetClient(),
		unmeasured: int64(asked.Objects + asked.WarmUpEvents),
		begun:      make(chan struct{}),
	}
	if err := ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).Complete(reconciler); err != nil {
		return result{}, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case err := <-ended:
		return result{}, err
	case <-reconciler.begun:
	}
	time.Sleep(time.Duration(asked.SettleMs) * time.Millisecond)
	before, measured := reconciler.done.Load(), meter{}
	measured.begin()
	time.Sleep(time.Duration(asked.CellMs) * time.Millisecond)
	measured.end()
	measured.events = int(reconciler.done.Load() - before)
	measured.checksum = int(reconciler.touched.Load())
	answer := measured.result()
	answer.Rows = []row{{Unit: "cpu-ms/s", Value: answer.CPUMs / measured.elapsed.Seconds()}}
	answer.Version = "controller-runtime " + version("sigs.k8s.io/controller-runtime")
	return answer, nil
}

// podMapper takes the place of discovery, which the source does not serve.
func podMapper(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	return mapper, nil
}
