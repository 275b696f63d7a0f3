// Command control-plane runs a real etcd or a real kube-apiserver for the end-to-end tests.
//
// They are two subcommands of one program, not one process, so that a test can kill the apiserver
// with SIGKILL and start it again on the same port while etcd keeps its data:
//
//	control-plane etcd      --data-dir DIR
//	control-plane apiserver --data-dir DIR --etcd-url URL --port 0 --kubeconfig-out FILE [-- kube-apiserver flags]
//
// Each prints one line of JSON on stdout when it is ready. Each ends when it gets SIGTERM, and when
// its standard input is closed, so that neither outlives the test that started it. etcd listens on a
// unix socket in its data folder, the apiserver on 127.0.0.1: nothing is reachable from outside.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "control-plane:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say which part to run: etcd or apiserver")
	}
	switch args[0] {
	case "etcd":
		return runEtcd(args[1:])
	case "apiserver":
		return runAPIServer(args[1:])
	default:
		return fmt.Errorf("unknown part %q: it is etcd or apiserver", args[0])
	}
}

// say writes one line of JSON to stdout, which carries nothing else.
func say(line any) error {
	return json.NewEncoder(os.Stdout).Encode(line)
}
