package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	corev1 "k8s.io/api/core/v1"
)

// writeFrames reads pods in JSON, one after the other, and writes each as a protobuf message with its length, four
// bytes, before it.
func writeFrames(input io.Reader, output io.Writer) error {
	decoder, writer := json.NewDecoder(input), bufio.NewWriter(output)
	for {
		pod := corev1.Pod{}
		err := decoder.Decode(&pod)
		if errors.Is(err, io.EOF) {
			return writer.Flush()
		}
		if err != nil {
			return err
		}
		message, err := pod.Marshal()
		if err != nil {
			return err
		}
		// The writer keeps its first error, which Flush returns.
		_ = binary.Write(writer, binary.BigEndian, uint32(len(message)))
		_, _ = writer.Write(message)
	}
}
