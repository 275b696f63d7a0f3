// apiserver.go: the kube-apiserver part. The server is the upstream command with upstream defaults,
// except for the flags that let it run alone (no controller manager, no kubelet) and deterministically (no
// compaction of its own).

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// Time for the server to end after its parent has ended.
const orphanTimeout = 10 * time.Second

func runAPIServer(args []string) error {
	flags := flag.NewFlagSet("apiserver", flag.ContinueOnError)
	dataDir := flags.String("data-dir", "", "existing folder for certificate, key and tokens; kept, they are used again")
	etcdURL := flags.String("etcd-url", "", "where etcd listens, as the etcd part printed it")
	port := flags.Int("port", 0, "port on 127.0.0.1, 0 for a free one")
	kubeconfigOut := flags.String("kubeconfig-out", "", "file to write the kubeconfig to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dataDir == "" || *etcdURL == "" || *kubeconfigOut == "" {
		return errors.New("apiserver: --data-dir, --etcd-url and --kubeconfig-out are required")
	}
	if *port == 0 {
		free, err := freePort()
		if err != nil {
			return err
		}
		*port = free
	}
	identity, err := loadIdentity(*dataDir)
	if err != nil {
		return err
	}

	command := app.NewAPIServerCommand() // installs the handler of SIGTERM
	command.SilenceErrors = true         // main prints it
	command.SetArgs(append(apiServerFlags(*dataDir, *etcdURL, *port), flags.Args()...))
	go endWithParent()
	go announce(command.Context(), identity, *port, *kubeconfigOut)
	return command.Execute()
}

func apiServerFlags(dataDir, etcdURL string, port int) []string {
	file := func(name string) string { return filepath.Join(dataDir, name) }
	return []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--tls-cert-file=" + file(certificateFile),
		"--tls-private-key-file=" + file(keyFile),
		"--token-auth-file=" + file(tokensFile),
		"--authorization-mode=RBAC",
		// No test uses the tokens that it issues, but the server requires the setting.
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + file(keyFile),
		"--service-account-signing-key-file=" + file(keyFile),
		// No controller makes service accounts here, and tests must be able to create pods.
		"--disable-admission-plugins=ServiceAccount",
		"--service-cluster-ip-range=10.0.0.0/24",
		// The `kubernetes` service would need an address that is not loopback.
		"--endpoint-reconciler-type=none",
		"--etcd-servers=" + etcdURL,
		// Only tests compact, so that a 410 comes when a test needs it.
		"--etcd-compaction-interval=0",
		// SIGTERM ends open watches cleanly and at once; by default it would wait a minute for them.
		"--shutdown-watch-termination-grace-period=5s",
	}
}

// freePort looks below the range from which the kernel takes the source ports of connections: while
// the server is down, no client can take its port, not even by connecting to itself.
func freePort() (int, error) {
	const first, count, attempts = 20_000, 10_000, 50
	for range attempts {
		port := first + rand.IntN(count)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("no free port in %d tries from %d", attempts, first)
}

// endWithParent ends the server as SIGTERM does when standard input is closed, and by force if that is
// not enough.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	time.Sleep(orphanTimeout)
	os.Exit(1)
}

// announce writes the kubeconfig, and the line on stdout as soon as the server is ready.
func announce(ctx context.Context, identity *identity, port int, kubeconfigOut string) {
	server := "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	err := writeKubeconfig(identity, server, kubeconfigOut)
	if err == nil {
		err = waitUntilReady(ctx, kubeconfigOut)
	}
	if err == nil {
		err = say(map[string]any{
			"server":            server,
			"port":              port,
			"caData":            identity.authority,
			"token":             identity.admin,
			"unprivilegedToken": identity.nobody,
		})
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		os.Exit(1)
	}
}
