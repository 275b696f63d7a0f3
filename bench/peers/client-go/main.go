// Command client-go is client-go's ordinary informer as a peer in the benchmarks: a typed clientset, a
// SharedInformerFactory, one handler. It takes its task as JSON in its last argument and prints one line of JSON.
//
//	client-go '<json>'           requests JSON
//	client-go protobuf '<json>'  requests protobuf
//	client-go frames             converts pods, from JSON on standard input to protobuf on standard output
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// task is the request of the runner. Cases: watch, sync, latency, memory, readers, and rest of a controller.
type task struct {
	Case     string `json:"case"`
	URL      string `json:"url"`
	Token    string `json:"token"`
	CA       string `json:"ca"` // PEM, or a file that holds it
	Resource string `json:"resource"`
	Events   int    `json:"events"`
	Handler  string `json:"handler"` // key, metadata or object
	Objects  int    `json:"objects"`

	// The following fields are optional.
	IdleTimeoutMs int    `json:"idleTimeoutMs"` // without any event: an error. Default 60,000
	PodCounts     []int  `json:"podCounts"`     // of the readers' grid
	Readers       counts `json:"readers"`       // of the readers' grid; a number is one cell, with `objects` pods
	CellMs        int    `json:"cellMs"`        // how long each cell of the grid, or the section, is measured
	SettleMs      int    `json:"settleMs"`      // the pause before the section
	WarmUpEvents  int    `json:"warmUpEvents"`  // so many of the events come first and are not measured
	Protobuf      bool   `json:"-"`             // asked for by an argument
}

// counts is a list of numbers in JSON, or a single number.
type counts []int

func (c *counts) UnmarshalJSON(text []byte) error {
	var number int
	if json.Unmarshal(text, &number) == nil {
		*c = counts{number}
		return nil
	}
	return json.Unmarshal(text, (*[]int)(c))
}

type result struct {
	Client    string   `json:"client"`
	Version   string   `json:"version"`
	Runtime   string   `json:"runtime"`
	Events    int      `json:"events"`
	ElapsedMs float64  `json:"elapsedMs"`
	CPUMs     float64  `json:"cpuMs"`
	RSSBytes  uint64   `json:"rssBytes"` // the most that was ever resident
	Settled   uint64   `json:"settledBytes,omitempty"`
	HeapBytes uint64   `json:"heapBytes,omitempty"`
	Latency   *latency `json:"latency,omitempty"`
	Checksum  int      `json:"checksum"`
	Rows      []row    `json:"rows,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// row is one figure of the readers' case.
type row struct {
	Case  string  `json:"case"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "frames" {
		if err := writeFrames(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	answer, err := run()
	answer.Client, answer.Runtime = "client-go", runtime.Version()
	if answer.Version == "" {
		answer.Version = version("k8s.io/client-go")
	}
	if err != nil {
		answer.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() (result, error) {
	isProtobuf := len(os.Args) == 3 && os.Args[1] == "protobuf"
	if len(os.Args) != 2 && !isProtobuf {
		usage := "usage: %s [protobuf] '{\"case\":\"watch\",\"url\":\"http://…\",…}'"
		return result{}, fmt.Errorf(usage, os.Args[0])
	}
	asked := task{Resource: "pods", Handler: "key", Objects: 20_000, IdleTimeoutMs: 60_000, CellMs: 500}
	asked.Protobuf = isProtobuf
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &asked); err != nil {
		return result{}, fmt.Errorf("the task is not JSON: %w", err)
	}
	if asked.Resource != "pods" {
		return result{}, fmt.Errorf("this peer watches pods, not %q", asked.Resource)
	}
	switch asked.Case {
	case "watch", "latency":
		return runWatch(asked)
	case "sync":
		return runSync(asked)
	case "rest":
		return runController(asked)
	case "memory":
		return runMemory(asked)
	case "readers":
		return runReaders(asked)
	default:
		return result{}, fmt.Errorf("unknown case %q", asked.Case)
	}
}

// version returns the version of a module in go.mod.
func version(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return "unknown"
}
