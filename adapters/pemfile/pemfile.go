// Package pemfile keeps a certificate that is read again when its files change, and reports its faults: that it has
// expired or is about to, or that it does not name the hosts at which peers reach the program. Connections that are open keep
// the certificate that they have.
package pemfile

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright"
)

// Config configures a Keeper.
type Config struct {
	// Read reads or issues the certificate, and the roots that peers' certificates may chain to; nil: the system's. It is called at
	// the start, when a file of Files changes, by Reload, and each day while the certificate is about to expire.
	Read  func() (tls.Certificate, *x509.CertPool, error) `required:"always"`
	Files []string                                        // are looked at every 10 seconds
	Name  string                                          // of the certificate in warnings; empty: "the certificate"
	Hosts []string                                        // that it must name

	callwright.Runtime
}

// The times of a Keeper.
const (
	lookEvery = 10 * time.Second
	warnEvery = 24 * time.Hour
	warnAhead = 30 * 24 * time.Hour // of the expiry
)

// Keeper holds a certificate. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	reading sync.Mutex // one at a time
	seen    []stamp    // of Files, when they were read

	mu     sync.Mutex
	held   tls.Certificate
	leaf   *x509.Certificate
	roots  *x509.CertPool
	failed string // why the last reading gave nothing; empty: it did
}

// stamp distinguishes a file from its predecessor.
type stamp struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

// New reads the certificate. Run reads it again.
func New(c Config) (*Keeper, error) {
	if err := callwright.PrepareConfig(&c); err != nil {
		return nil, err
	}
	if c.Name == "" {
		c.Name = "the certificate"
	}
	k := &Keeper{cfg: c}
	k.seen = k.stamps()
	return k, k.read()
}

// Certificates returns the certificate that is shown from now on, and the roots that peers' certificates may chain to.
func (k *Keeper) Certificates() ([]tls.Certificate, *x509.CertPool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return []tls.Certificate{k.held}, k.roots
}

// Run reads the certificate again whenever its files change, and logs its faults: at the start, and each day. Files that
// cannot be read, such as during a renewal that has written one of two, leave the certificate unchanged. Run tries again until it
// can read them. It returns when ctx ends; the error is always nil.
func (k *Keeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	k.warn(ctx)
	warned := k.cfg.Clock.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := k.cfg.Clock.Now()
		switch {
		case k.changed():
			k.Reload(ctx)
			warned = now
		case k.failure() != "" && k.again(ctx):
			warned = now
		case now.Sub(warned) >= warnEvery:
			if k.expiresSoon(now) {
				k.Reload(ctx)
			} else {
				k.warn(ctx)
			}
			warned = now
		}
	}
}

// Reload reads the certificate again now, and logs its faults. If it cannot be read, the former one stays in use.
func (k *Keeper) Reload(ctx context.Context) {
	k.again(ctx)
	k.warn(ctx)
}

// again reads the certificate again and reports whether that has worked.
func (k *Keeper) again(ctx context.Context) bool {
	k.reading.Lock()
	defer k.reading.Unlock()
	seen := k.stamps()
	err := k.read()
	k.seen = seen
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failed = err.Error()
		return false
	}
	k.failed = ""
	k.cfg.Logger.InfoContext(ctx, k.cfg.Name+" was read again", "expires_at", k.leaf.NotAfter.UTC())
	return true
}

func (k *Keeper) failure() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

func (k *Keeper) read() error {
	held, roots, err := k.cfg.Read()
	if err != nil {
		return err
	}
	if len(held.Certificate) == 0 {
		return errors.New("there is no certificate")
	}
	leaf, err := x509.ParseCertificate(held.Certificate[0])
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held, k.leaf, k.roots = held, leaf, roots
	return nil
}

// stamps returns the current stamps of the files. A file that is absent has the zero stamp.
func (k *Keeper) stamps() []stamp {
	all := make([]stamp, len(k.cfg.Files))
	for i, name := range k.cfg.Files {
		if info, err := os.Stat(name); err == nil {
			all[i] = stamp{info.Size(), info.ModTime(), info.Mode()}
		}
	}
	return all
}

func (k *Keeper) changed() bool {
	k.reading.Lock()
	defer k.reading.Unlock()
	return !slices.Equal(k.seen, k.stamps())
}

func (k *Keeper) expiry() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.leaf.NotAfter.UTC()
}

func (k *Keeper) expiresSoon(now time.Time) bool { return k.expiry().Sub(now) < warnAhead }

// Warnings describes the faults of the certificate and its files, human-readable; empty without faults.
func (k *Keeper) Warnings() []string {
	k.mu.Lock()
	leaf, failed := k.leaf, k.failed
	k.mu.Unlock()
	now := k.cfg.Clock.Now()
	var all []string
	if failed != "" {
		all = append(all, fmt.Sprintf("%s cannot be read again: the one before stays in use: %s", k.cfg.Name, failed))
	}
	switch left := leaf.NotAfter.Sub(now); {
	case left <= 0:
		all = append(all, fmt.Sprintf("%s expired on %s: peers that verify it refuse it", k.cfg.Name, leaf.NotAfter.UTC().Format(time.RFC3339)))
	case left < warnAhead:
		all = append(all, fmt.Sprintf("%s expires on %s, in %d days", k.cfg.Name, leaf.NotAfter.UTC().Format(time.RFC3339), int(left.Hours()/24)))
	case leaf.NotBefore.After(now):
		all = append(all, fmt.Sprintf("%s is not valid before %s", k.cfg.Name, leaf.NotBefore.UTC().Format(time.RFC3339)))
	}
	for _, host := range k.cfg.Hosts {
		if leaf.VerifyHostname(host) != nil {
			all = append(all, fmt.Sprintf("%s does not name %s: peers that call it by that name and verify it refuse it", k.cfg.Name, host))
		}
	}
	return all
}

func (k *Keeper) warn(ctx context.Context) {
	for _, text := range k.Warnings() {
		k.cfg.Logger.WarnContext(ctx, text)
	}
}
