package s3blobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/s3blobs"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
)

// TestConformance runs the conformance suite without a function that truncates audio, because a response that is already being sent may be
// complete.
func TestConformance(t *testing.T) {
	t.Parallel()
	speechtest.RunBlobs(t, func(t *testing.T) speech.Blobs { t.Helper(); return open(t, nil) }, nil)
}

// TestCutObjectIsAnError checks that OpenBlob rejects an object that was truncated in the server's folder.
func TestCutObjectIsAnError(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	put(t, b, "n", make([]byte, 1000))
	path := filepath.Join(shared.folder, "objects", bucket, filepath.FromSlash(b.Key("org", "n")))
	if err := os.Truncate(path, 900); err != nil {
		t.Fatal(err)
	}
	if _, err := b.OpenBlob(t.Context(), "org", "n"); callwright.CodeOf(err) != callwright.CodeUnavailable {
		t.Errorf("cut audio is opened, %v", err)
	}
}

// TestStalledAnswerEnds checks that Read returns an error when the body of a response yields no bytes.
func TestStalledAnswerEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := s3blobs.New(s3blobs.Config{
			Bucket: bucket, AccessKey: accessKey, SecretKey: secretKey,
			Transport: round(func(r *http.Request) (*http.Response, error) {
				header := http.Header{"Etag": {`"1"`}, "Content-Range": {"bytes 0-9/10"}, "Content-Length": {"10"}}
				return &http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: 10, Body: stalled{r.Context()}, Request: r}, nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		f, err := b.OpenBlob(t.Context(), "org", "n")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Read(make([]byte, 10)); callwright.CodeOf(err) != callwright.CodeUnavailable {
			t.Errorf("read: %v", err)
		}
	})
}

// stalled is a body that yields no byte: Read blocks until its request is canceled.
type stalled struct{ ctx context.Context } //nolint:containedctx // that of the request

// Read blocks until the request is canceled.
func (s stalled) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// Close does nothing and returns nil.
func (s stalled) Close() error { return nil }

// round adapts a function to an http.RoundTripper.
type round func(r *http.Request) (*http.Response, error)

// RoundTrip calls f with r.
func (f round) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// watch returns a function that makes a configuration pass its requests to f. f sends a request by calling next.
func watch(f func(r *http.Request, next http.RoundTripper) (*http.Response, error)) func(c *s3blobs.Config) {
	return func(c *s3blobs.Config) {
		next := c.Transport
		c.Transport = round(func(r *http.Request) (*http.Response, error) { return f(r, next) })
	}
}

func put(t *testing.T, b *s3blobs.Blobs, name string, content []byte) {
	t.Helper()
	if err := b.StoreBlob(t.Context(), "org", name, bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
}

func TestObjectsAreWAVFilesUnderThePrefix(t *testing.T) {
	t.Parallel()
	var prefix string
	b := open(t, func(c *s3blobs.Config) { prefix = c.Prefix })
	put(t, b, "name", []byte("audio"))
	object, err := b.Client().GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String(prefix + "/org/name.wav")})
	if err != nil {
		t.Fatal(err)
	}
	defer object.Body.Close()
	if raw, err := io.ReadAll(object.Body); err != nil || string(raw) != "audio" || aws.ToString(object.ContentType) != "audio/wav" {
		t.Errorf("the object is %q of the type %q, %v", raw, aws.ToString(object.ContentType), err)
	}
}

// counted calls count with the number of bytes of each read from a body.
type counted struct {
	io.ReadCloser

	count func(n int)
}

// Read reads from the body and passes the number of bytes to count.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.count(n)
	return n, err
}

// TestSeekDownloadsLittle checks that a player that reads only the length and the end of a large object downloads at most 100,000 bytes.
func TestSeekDownloadsLittle(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	fetched, ranges := 0, []string{}
	b := open(t, watch(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if r.Method == http.MethodGet && err == nil {
			mu.Lock()
			ranges = append(ranges, r.Header.Get("Range"))
			mu.Unlock()
			answer.Body = counted{answer.Body, func(n int) { mu.Lock(); fetched += n; mu.Unlock() }}
		}
		return answer, err
	}))
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	put(t, b, "large", content)
	f, err := b.OpenBlob(t.Context(), "org", "large")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil || size != 16<<20 {
		t.Errorf("the end is at %d, %v", size, err)
	}
	if _, err := f.Seek(-1000, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, content[len(content)-1000:]) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	mu.Lock()
	defer mu.Unlock()
	if fetched > 100_000 || len(ranges) != 2 || ranges[1] != fmt.Sprintf("bytes=%d-", 16<<20-1000) {
		t.Errorf("%d bytes were fetched, with the ranges %q", fetched, ranges)
	}
}

// TestReadingGoesOnAfterABreak checks that the reader continues at its offset after the connection breaks, and that it returns an error
// after the third consecutive response without a byte.
func TestReadingGoesOnAfterABreak(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("0123456789"), 10_000)
	for name, c := range map[string]struct {
		lengths []int64 // numbers of bytes after which the bodies break
		whole   bool
	}{
		"breaks": {[]int64{30_000, 30_000}, true}, "twice at once": {[]int64{30_000, 0, 0}, true}, "stays broken": {[]int64{30_000, 0, 0, 0, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lengths := c.lengths
			b := open(t, watch(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				answer, err := next.RoundTrip(r)
				if r.Method == http.MethodGet && err == nil && len(lengths) > 0 {
					body := answer.Body
					answer.Body = struct {
						io.Reader
						io.Closer
					}{io.MultiReader(io.LimitReader(body, lengths[0]), broken{}), body}
					lengths = lengths[1:]
				}
				return answer, err
			}))
			put(t, b, "n", content)
			f, err := b.OpenBlob(t.Context(), "org", "n")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got, err := io.ReadAll(f)
			if c.whole && (err != nil || !bytes.Equal(got, content)) || !c.whole && !errors.Is(err, callwright.ErrUnavailable) {
				t.Errorf("read %d of %d bytes, %v", len(got), len(content), err)
			}
		})
	}
}

// broken is a reader that always fails, like a reset connection.
type broken struct{}

// Read returns an error and no bytes.
func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

// TestChangedWhileRead checks that a reader returns an error, and no bytes of the new object, when its object is replaced.
func TestChangedWhileRead(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	put(t, b, "n", bytes.Repeat([]byte("old"), 1000))
	f, err := b.OpenBlob(t.Context(), "org", "n")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	put(t, b, "n", bytes.Repeat([]byte("new"), 900))
	if _, err := f.Seek(300, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); !errors.Is(err, callwright.ErrUnavailable) || len(got) > 0 {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}

// TestRefusals checks the messages for wrong configurations and for errors of the server, and that none contains the secret.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(c *s3blobs.Config)
		want   string
	}{
		"wrong secret":  {func(c *s3blobs.Config) { c.SecretKey = "another secret that no error shows" }, "refuses access"},
		"unknown key":   {func(c *s3blobs.Config) { c.AccessKey = "nobody" }, "refuses access"},
		"no bucket":     {func(c *s3blobs.Config) { c.Bucket = "no-such-bucket" }, "bucket for audio does not exist"},
		"full":          {answer(http.StatusInsufficientStorage, "XMinioStorageFull"), "full"},
		"wrong clock":   {answer(http.StatusForbidden, "RequestTimeTooSkewed"), "clock"},
		"overloaded":    {answer(http.StatusServiceUnavailable, "SlowDown"), "does not answer"},
		"no S3":         {answer(http.StatusNotFound, ""), "does not speak S3"},
		"another place": {answer(http.StatusMovedPermanently, "PermanentRedirect"), "region"},
		"away": {watch(func(*http.Request, http.RoundTripper) (*http.Response, error) {
			return nil, errors.New("no route to host")
		}), "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, c.change)
			_, openErr := b.OpenBlob(t.Context(), "org", "n")
			for what, err := range map[string]error{
				"put": b.StoreBlob(t.Context(), "org", "n", strings.NewReader("audio"), 5), "open": openErr,
			} {
				if !errors.Is(err, callwright.ErrUnavailable) || !strings.Contains(callwright.MessageOf(err), c.want) {
					t.Errorf("%s gave %v: %v; want it to say %q", what, err, errors.Unwrap(err), c.want)
				}
				for cause := err; cause != nil; cause = errors.Unwrap(cause) {
					if all := fmt.Sprintf("%v %+v %#v", cause, cause, cause); strings.Contains(all, "no error shows") {
						t.Errorf("%s shows the secret: %s", what, all)
					}
				}
			}
		})
	}
}

// answer makes a configuration answer every request with a status and an S3 error code. An empty code produces an HTML body.
func answer(status int, code string) func(c *s3blobs.Config) {
	return watch(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
		body := "<Error><Code>" + code + "</Code><Message>because</Message></Error>"
		if code == "" {
			body = "<html>Not found</html>"
		}
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	})
}

// TestRetries checks that StoreBlob succeeds after two connection errors, and sends all bytes again.
func TestRetries(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := 0
	b := open(t, watch(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		mu.Lock()
		seen++
		first := seen%3 != 0
		mu.Unlock()
		if first {
			_, _ = io.Copy(io.Discard, r.Body)
			return nil, errors.New("connection reset by peer")
		}
		return next.RoundTrip(r)
	}))
	content := bytes.Repeat([]byte("audio"), 20_000)
	if err := b.StoreBlob(t.Context(), "org", "n", io.MultiReader(bytes.NewReader(content)), int64(len(content))); err != nil || seen != 3 {
		t.Fatalf("after %d requests: %v", seen, err)
	}
}

// TestPutRemovesWhatItMayHaveSent checks that StoreBlob deletes the object if the upload succeeded but its response was lost.
func TestPutRemovesWhatItMayHaveSent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := open(t, watch(func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if r.Method == http.MethodPut && err == nil {
			_ = answer.Body.Close()
			cancel()
			return nil, ctx.Err()
		}
		return answer, err
	}))
	if err := b.StoreBlob(ctx, "org", "n", strings.NewReader("audio"), 5); !errors.Is(err, context.Canceled) {
		t.Errorf("put gave %v", err)
	}
	if _, err := b.OpenBlob(t.Context(), "org", "n"); !errors.Is(err, callwright.ErrNotFound) {
		t.Errorf("open gave %v", err)
	}
}

// TestEncryption checks the headers that request the encryption.
func TestEncryption(t *testing.T) {
	t.Parallel()
	for _, e := range []s3blobs.Encryption{{}, {Algorithm: "AES256"}, {Algorithm: "aws:kms"}, {Algorithm: "aws:kms", KMSKey: "arn:key"}} {
		var got s3blobs.Encryption
		b := open(t, func(c *s3blobs.Config) {
			c.Encryption = e
			watch(func(r *http.Request, _ http.RoundTripper) (*http.Response, error) {
				if r.Method == http.MethodPut {
					got.Algorithm, got.KMSKey = r.Header.Get("X-Amz-Server-Side-Encryption"), r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id")
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Etag": {`"e"`}}, Body: http.NoBody, Request: r}, nil
			})(c)
		})
		put(t, b, "n", []byte("audio"))
		if got != e {
			t.Errorf("asked for %+v, want %+v", got, e)
		}
	}
}
