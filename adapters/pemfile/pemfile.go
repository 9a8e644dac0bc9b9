// Package pemfile loads a certificate and reloads it when its files change. It reports a certificate that has expired, expires soon, or
// does not name the hosts by which peers reach the program. Open connections keep their certificate.
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

// Config configures a Keeper. Read is required.
type Config struct {
	// Read reads or issues the certificate, and returns the roots that verify the certificates of peers. Nil roots mean the system's. It is
	// called at the start, when a file of Files changes, by Reload, every 10 seconds after a failure until it succeeds, and each day while
	// the certificate is about to expire.
	Read  func() (tls.Certificate, *x509.CertPool, error) `required:"always"`
	Files []string                                        // files to check for changes every 10 seconds
	Name  string                                          // of the certificate in warnings; if empty, "the certificate"
	Hosts []string                                        // host names and IP addresses that the certificate must contain

	callwright.Runtime
}

// The intervals at which a Keeper checks files and logs faults, and the time before the expiry from which it warns.
const (
	lookEvery = 10 * time.Second
	warnEvery = 24 * time.Hour
	warnAhead = 30 * 24 * time.Hour // before the expiry
)

// Keeper holds a certificate. It is safe for concurrent use.
type Keeper struct {
	cfg Config

	reading sync.Mutex // serializes calls of Read
	seen    []stamp    // the stamps of Files at the last read

	mu     sync.Mutex
	held   tls.Certificate
	leaf   *x509.Certificate
	roots  *x509.CertPool
	failed string // error text of the last read, empty if it succeeded
}

// stamp holds the attributes of a file by which a change is detected.
type stamp struct {
	size    int64
	changed time.Time
	mode    fs.FileMode
}

// New reads the certificate and returns a Keeper, or the error of Read. Run must be called to reload the certificate.
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

// Certificates returns the current certificate, and the roots that verify the certificates of peers. Nil roots mean the system's.
func (k *Keeper) Certificates() ([]tls.Certificate, *x509.CertPool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return []tls.Certificate{k.held}, k.roots
}

// Run reloads the certificate whenever its files change, and each day while it is about to expire. It logs the faults of the certificate at
// the start and each day. If a read fails, for example because a renewal has written only one of two files, the certificate stays unchanged
// and Run retries every 10 seconds. It returns nil when ctx ends.
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

// Reload reads the certificate again and logs its faults. If the read fails, the former certificate stays in use.
func (k *Keeper) Reload(ctx context.Context) {
	k.again(ctx)
	k.warn(ctx)
}

// again reads the certificate again and reports whether the read succeeded.
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
		return errors.New("pemfile: Config.Read must return at least one certificate")
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

// stamps returns the current stamps of the files. An absent file has the zero stamp.
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

// Warnings returns one readable sentence for each fault of the certificate and its files. It is empty if there are no faults.
func (k *Keeper) Warnings() []string {
	k.mu.Lock()
	leaf, failed := k.leaf, k.failed
	k.mu.Unlock()
	now := k.cfg.Clock.Now()
	var all []string
	if failed != "" {
		all = append(all, fmt.Sprintf("%s cannot be reloaded, and the previous one stays in use: %s", k.cfg.Name, failed))
	}
	switch left := leaf.NotAfter.Sub(now); {
	case left <= 0:
		all = append(all, fmt.Sprintf("%s expired on %s, and peers that verify it refuse it: renew it", k.cfg.Name, leaf.NotAfter.UTC().Format(time.RFC3339)))
	case left < warnAhead:
		all = append(all, fmt.Sprintf("%s expires on %s, in %d days: renew it", k.cfg.Name, leaf.NotAfter.UTC().Format(time.RFC3339), int(left.Hours()/24)))
	case leaf.NotBefore.After(now):
		all = append(all, fmt.Sprintf("%s is not valid before %s, and peers that verify it refuse it until then", k.cfg.Name, leaf.NotBefore.UTC().Format(time.RFC3339)))
	}
	for _, host := range k.cfg.Hosts {
		if leaf.VerifyHostname(host) != nil {
			all = append(all, fmt.Sprintf("%s does not name %s, and peers that connect to that name and verify the certificate refuse it: add the name", k.cfg.Name, host))
		}
	}
	return all
}

func (k *Keeper) warn(ctx context.Context) {
	for _, text := range k.Warnings() {
		k.cfg.Logger.WarnContext(ctx, text)
	}
}
