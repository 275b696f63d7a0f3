package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// podInformer is the informer of a factory with the default settings of client-go, WatchList first, but for the content
// type: it is JSON unless the task requests protobuf, which typed clients prefer if they are not told otherwise.
type podInformer struct {
	factory  informers.SharedInformerFactory
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
	ctx      context.Context
	failure  atomic.Pointer[string] // the last error of the reflector
	progress atomic.Int64           // handler calls
}

func configOf(asked task) (*rest.Config, error) {
	config := &rest.Config{Host: asked.URL, BearerToken: asked.Token}
	config.ContentType = runtime.ContentTypeJSON
	if asked.Protobuf {
		config.ContentType = runtime.ContentTypeProtobuf
	}
	if asked.CA != "" {
		pem, err := certificates(asked.CA)
		if err != nil {
			return nil, err
		}
		config.TLSClientConfig.CAData = pem
	}
	return config, nil
}

func newPodInformer(asked task) (*podInformer, error) {
	config, err := configOf(asked)
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(clientset, 0)
	made := &podInformer{factory: factory, informer: factory.Core().V1().Pods().Informer()}
	made.ctx, made.stop = context.WithCancel(context.Background())
	err = made.informer.SetWatchErrorHandlerWithContext(
		func(ctx context.Context, reflector *cache.Reflector, err error) {
			text := err.Error()
			made.failure.Store(&text)
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		})
	return made, err
}

func certificates(text string) ([]byte, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "-----BEGIN") {
		return []byte(text), nil
	}
	return os.ReadFile(text)
}

// onAdd and onUpdate may be nil.
func (p *podInformer) start(onAdd, onUpdate func(pod *corev1.Pod)) error {
	call := func(handler func(pod *corev1.Pod), object any) {
		p.progress.Add(1)
		if pod, ok := object.(*corev1.Pod); ok && handler != nil {
			handler(pod)
		}
	}
	_, err := p.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { call(onAdd, object) },
		UpdateFunc: func(_, object any) { call(onUpdate, object) },
	})
	if err != nil {
		return err
	}
	p.factory.StartWithContext(p.ctx)
	return nil
}

// await returns when done is closed, or with an error after too long without an event.
func (p *podInformer) await(done <-chan struct{}, asked task) error {
	idle := time.Duration(asked.IdleTimeoutMs) * time.Millisecond
	last := p.progress.Load()
	for {
		select {
		case <-done:
			return nil
		case <-time.After(idle):
		}
		now := p.progress.Load()
		if now == last {
			return fmt.Errorf("no event for %v after %d of them%s", idle, now, p.lastFailure())
		}
		last = now
	}
}

func (p *podInformer) lastFailure() string {
	if text := p.failure.Load(); text != nil {
		return "; the last error was: " + *text
	}
	return ""
}

func (p *podInformer) close() {
	p.stop()
	p.factory.Shutdown()
}
