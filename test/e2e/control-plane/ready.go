// ready.go: the preconditions of a client: a kubeconfig, and a server that answers /readyz.

package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	readyTimeout = 3 * time.Minute
	readyPeriod  = 100 * time.Millisecond
)

func writeKubeconfig(identity *identity, server, file string) error {
	const name = "kubeloom-e2e"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: server, CertificateAuthorityData: identity.authority}
	config.AuthInfos[name] = &api.AuthInfo{Token: identity.admin}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, file)
}

// waitUntilReady uses the kubeconfig like a client, which tests the kubeconfig, too.
func waitUntilReady(ctx context.Context, kubeconfig string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	for {
		if err = probe(ctx, client, config.Host+"/readyz"); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the apiserver is not ready: %w", err)
		case <-time.After(readyPeriod):
		}
	}
}

func probe(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return nil
}
