// identity.go: the credentials of the server and of its users: a certificate for 127.0.0.1 with its own
// authority, and two bearer tokens. They are made once for each data folder, so that clients accept a
// restarted server.

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
)

const (
	certificateFile = "apiserver.crt"
	keyFile         = "apiserver.key"
	tokensFile      = "tokens.csv"
)

type identity struct {
	authority []byte // PEM of the authority that signed the serving certificate
	admin     string // token of a user who may do everything
	nobody    string // token of a user who may do nothing
}

// loadIdentity reads the identity in the folder, or makes one.
func loadIdentity(dataDir string) (*identity, error) {
	certificate, err := os.ReadFile(filepath.Join(dataDir, certificateFile))
	if errors.Is(err, os.ErrNotExist) {
		if err := makeIdentity(dataDir); err != nil {
			return nil, err
		}
		certificate, err = os.ReadFile(filepath.Join(dataDir, certificateFile))
	}
	if err != nil {
		return nil, err
	}
	tokens, err := os.ReadFile(filepath.Join(dataDir, tokensFile))
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSpace(tokens), []byte("\n"))
	if len(lines) != 2 {
		return nil, fmt.Errorf("%s has %d lines, not 2", tokensFile, len(lines))
	}
	admin, _, _ := bytes.Cut(lines[0], []byte(","))
	nobody, _, _ := bytes.Cut(lines[1], []byte(","))
	// The file holds the serving certificate first and its authority second.
	_, authority := pem.Decode(certificate)
	return &identity{authority: authority, admin: string(admin), nobody: string(nobody)}, nil
}

func makeIdentity(dataDir string) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, []string{"localhost"})
	if err != nil {
		return err
	}
	tokens := fmt.Sprintf("%s,admin,admin,system:masters\n%s,nobody,nobody\n", rand.Text(), rand.Text())
	// The certificate is written last: when it exists, all files do.
	for _, file := range []struct {
		name    string
		content []byte
	}{{keyFile, key}, {tokensFile, []byte(tokens)}, {certificateFile, certificate}} {
		if err := os.WriteFile(filepath.Join(dataDir, file.name), file.content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
