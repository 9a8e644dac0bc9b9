// Package testca stores a certificate authority in a folder, for machines without certificates. Peers that trust its root can exchange
// calls over TLS. It serves trials and tests: a deployment needs certificates from an authority that its peers trust already.
package testca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// Names of the authority's files in its folder.
const (
	certFile = "ca.crt"
	keyFile  = "ca.key"
)

// Validity of the certificates. People install the root by hand, so it is valid for ten years. Leaves are issued at every start.
const (
	rootLife = 10 * 365 * 24 * time.Hour
	leafLife = 365 * 24 * time.Hour
	backdate = time.Hour // for peers whose clocks are behind
)

// Authority signs certificates with a root that it reads from a folder. It is safe for concurrent use.
type Authority struct {
	folder string
	root   *x509.Certificate
	key    *ecdsa.PrivateKey
}

// Open reads the authority in a folder, or creates the folder and an authority whose root is valid for ten years. If several processes
// create it concurrently, one process succeeds and the others read its files.
func Open(folder string) (*Authority, error) {
	a, err := read(folder)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(folder); err != nil {
			return nil, fmt.Errorf("test authority: %w", err)
		}
		a, err = read(folder)
	}
	if err != nil {
		return nil, fmt.Errorf("test authority: %w", err)
	}
	return a, nil
}

// CertFile returns the path of the root's certificate, in PEM.
func (a *Authority) CertFile() string { return filepath.Join(a.folder, certFile) }

// Pool returns a certificate pool that contains only the root.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.root)
	return pool
}

// Issue signs a certificate for host names and IP addresses, for use as a server and as a client, for one year.
func (a *Authority) Issue(hosts ...string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf, err := template("callwright test", leafLife)
	if err != nil {
		return tls.Certificate{}, err
	}
	leaf.KeyUsage = x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip, err := netip.ParseAddr(host); err == nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip.AsSlice())
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.root, &key.PublicKey, a.key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der, a.root.Raw}, PrivateKey: key}, nil
}

// PEM encodes a certificate chain and its private key (PKCS #8) as PEM, for programs that read them from files.
func PEM(c tls.Certificate) (chain, key []byte, err error) {
	for _, der := range c.Certificate {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		return nil, nil, err
	}
	return chain, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func template(name string, life time.Duration) (*x509.Certificate, error) {
	const serialBits = 127
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(life),
	}, nil
}

func create(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	root, err := template("callwright test authority", rootLife)
	if err != nil {
		return err
	}
	root.IsCA, root.BasicConstraintsValid = true, true
	root.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, root, root, &key.PublicKey, key)
	if err != nil {
		return err
	}
	chain, keyPEM, err := PEM(tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	// Only one process can create the key file; that process then writes the certificate.
	f, err := os.OpenFile(filepath.Join(folder, keyFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return waitFor(filepath.Join(folder, certFile))
	}
	if err != nil {
		return err
	}
	_, writeErr := f.Write(keyPEM)
	if err := errors.Join(writeErr, f.Close()); err != nil {
		return err
	}
	temp := filepath.Join(folder, certFile+".new")
	if err := os.WriteFile(temp, chain, 0o644); err != nil { //nolint:gosec // a root is for everyone to read
		return err
	}
	return os.Rename(temp, filepath.Join(folder, certFile))
}

// waitFor waits up to 10 seconds until another process has written the file. It returns an error after that time.
func waitFor(path string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for range 500 {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		<-ticker.C
	}
	return fmt.Errorf("%s is missing, but its key exists: delete the key to create a new authority", path)
}

func read(folder string) (*Authority, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, certFile), filepath.Join(folder, keyFile))
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s must contain an ECDSA key", filepath.Join(folder, keyFile))
	}
	return &Authority{folder: folder, root: pair.Leaf, key: key}, nil
}
