// etcd.go: the etcd part. One member on a unix socket, without fsync (its data never has to survive the
// machine), and a command on standard input that compacts its history, which the apiserver would do only after minutes.

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

const etcdReadyTimeout = 60 * time.Second

func runEtcd(args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	dataDir := flags.String("data-dir", "", "existing folder for the data and the socket")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dataDir == "" {
		return errors.New("etcd: --data-dir is required")
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	clients := url.URL{Scheme: "unix", Path: filepath.Join(*dataDir, "etcd.sock")}
	etcd, err := embed.StartEtcd(etcdConfig(*dataDir, clients))
	if err != nil {
		return err
	}
	defer etcd.Close()
	select {
	case <-etcd.Server.ReadyNotify():
	case <-time.After(etcdReadyTimeout):
		return fmt.Errorf("etcd is not ready after %s", etcdReadyTimeout)
	case err := <-etcd.Err():
		return err
	}
	if err := say(map[string]any{"url": clients.String()}); err != nil {
		return err
	}

	commands := make(chan error, 1)
	go func() { commands <- obey(ctx, etcd) }()
	select {
	case <-ctx.Done():
		return nil
	case err := <-commands:
		return err
	case err := <-etcd.Err():
		return err
	}
}

func etcdConfig(dataDir string, clients url.URL) *embed.Config {
	config := embed.NewConfig()
	config.Dir = filepath.Join(dataDir, "etcd")
	// The advertised addresses stay the default ones: they must have a port, and no client uses them.
	config.ListenClientUrls = []url.URL{clients}
	config.ListenPeerUrls = nil // an only member
	config.UnsafeNoFsync = true
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration // else every request is a warning
	config.LogLevel = "warn"
	config.LogOutputs = []string{"stderr"}
	return config
}

// obey executes the commands on standard input, one a line, until it is closed.
//
//	compact   forget all history; answers {"compacted": revision}
func obey(ctx context.Context, etcd *embed.Etcd) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if command := lines.Text(); command != "compact" {
			return fmt.Errorf("unknown command %q on stdin: it is compact", command)
		}
		revision, err := compact(ctx, etcd.Server)
		if err != nil {
			return err
		}
		if err := say(map[string]any{"compacted": revision}); err != nil {
			return err
		}
	}
	return lines.Err()
}

// compact forgets all history before a new revision, which it makes with a key of its own. Every resourceVersion that
// a client has seen is older, and therefore too old afterwards.
func compact(ctx context.Context, server *etcdserver.EtcdServer) (int64, error) {
	put, err := server.Put(ctx, &pb.PutRequest{Key: []byte("/kubeloom/compacted")})
	if err != nil {
		return 0, fmt.Errorf("new revision: %w", err)
	}
	revision := put.Header.Revision
	if _, err := server.Compact(ctx, &pb.CompactionRequest{Revision: revision, Physical: true}); err != nil {
		return 0, fmt.Errorf("compact at revision %d: %w", revision, err)
	}
	return revision, nil
}
