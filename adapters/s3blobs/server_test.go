package s3blobs_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/s3blobs"
)

// The tests use the S3 server versitygw, which is built from the module internal/tools/s3. It verifies the signatures of requests. It
// listens on a Unix socket, so that no port can conflict.
const (
	bucket    = "audio-test"
	accessKey = "test-key"
	secretKey = "a secret that no error shows"
)

// startLimit is the maximum time for the start of the server, which takes seconds on a busy machine.
const startLimit = time.Minute

// server is a running S3 server with its files in folder.
type server struct {
	folder  string
	command *exec.Cmd
	input   io.Closer
}

var shared *server

func TestMain(m *testing.M) {
	code := 1
	s, err := startServer(context.Background())
	if err == nil {
		shared = s
		code = m.Run()
		err = s.stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the S3 server:", err)
		code = 1
	}
	os.Exit(code)
}

// guard is a shell script that runs a command and kills it when the script's standard input closes. The server therefore stops with the
// tests, even if they crash.
const guard = `exec 3<&0; "$@" & pid=$!; (cat; kill $pid) <&3 >/dev/null 2>&1 & watch=$!; exec 3<&-; wait $pid; kill $watch 2>/dev/null; :`

func startServer(ctx context.Context) (*server, error) {
	find := exec.CommandContext(ctx, "go", "-C", filepath.Join("..", "..", "internal", "tools", "s3"), "tool", "-n", "versitygw")
	find.Env = append(os.Environ(), "GOWORK=off") // the workspace does not contain the tool's module
	program, err := find.Output()
	if err != nil {
		return nil, fmt.Errorf("build it: %w", err)
	}
	folder, err := os.MkdirTemp("", "s3") // sockets require a short path
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"objects", "metadata"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			return nil, err
		}
	}
	s := &server{folder: folder}
	s.command = exec.CommandContext(ctx, "sh", "-c", guard, "sh", strings.TrimSpace(string(program)), "--port", s.socket(), "--quiet",
		"posix", "--sidecar", filepath.Join(folder, "metadata"), filepath.Join(folder, "objects"))
	s.command.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+accessKey, "ROOT_SECRET_ACCESS_KEY="+secretKey)
	s.command.Stderr = os.Stderr
	if s.input, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		_ = s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) socket() string { return filepath.Join(s.folder, "s") }

// prepare waits until the server accepts connections, and creates the bucket.
func (s *server) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for pause := time.NewTicker(20 * time.Millisecond); ; {
		c, err := new(net.Dialer).DialContext(ctx, "unix", s.socket())
		if err == nil {
			_ = c.Close()
			pause.Stop()
			break
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
	b, err := s3blobs.New(s.config("any"))
	if err != nil {
		return err
	}
	_, err = b.Client().CreateBucket(ctx, &s3.CreateBucketInput{Bucket: new(string(bucket))})
	return err
}

func (s *server) stop() error {
	_ = s.input.Close()
	_ = s.command.Wait() // returns an error, because guard kills the server
	return os.RemoveAll(s.folder)
}

// config returns a configuration that connects to the server's socket.
func (s *server) config(prefix string) s3blobs.Config {
	transport := s3blobs.NewTransport()
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.socket())
	}
	return s3blobs.Config{
		Bucket: bucket, Prefix: prefix, Endpoint: "http://s3.test", PathStyle: true, AllowHTTP: true, AccessKey: accessKey,
		SecretKey: callwright.Secret(secretKey), Transport: transport,
	}
}

// open returns Blobs with a random prefix, so that tests share no objects. If change is not nil, it may modify the configuration.
func open(t testing.TB, change func(c *s3blobs.Config)) *s3blobs.Blobs {
	t.Helper()
	c := shared.config("test/" + rand.Text())
	if change != nil {
		change(&c)
	}
	b, err := s3blobs.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if transport, ok := c.Transport.(*http.Transport); ok {
		t.Cleanup(transport.CloseIdleConnections)
	}
	return b
}
