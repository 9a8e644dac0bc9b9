package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/speechapi"
	oas "github.com/callwright/callwright/transport/oas/speechoas"
)

// TestUploadsToWhatIsNotBuilt checks that an operation that is not built answers without reading the upload: 501 or 415, or 401 for a
// request without a key.
func TestUploadsToWhatIsNotBuilt(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *httpapi.Config) { c.Areas = []httpapi.Area{speechapi.New(speechapi.Config{})} })
	for _, path := range []string{"/v1/voices/clone", "/v1/voices/clone?voice_id=x"} {
		for _, kind := range []string{"multipart/form-data; boundary=b", "multipart/mixed; boundary=b"} {
			for _, key := range []string{h.key, ""} {
				body := &unread{t: t, name: path + " " + kind}
				r := httptest.NewRequestWithContext(t.Context(), "POST", path, body)
				r.Header.Set("Content-Type", kind)
				r.Header.Set("Authorization", key)
				answer := httptest.NewRecorder()
				h.unchecked.ServeHTTP(answer, r)
				switch {
				case key == "" && answer.Code != http.StatusUnauthorized,
					key != "" && answer.Code != http.StatusNotImplemented && answer.Code != http.StatusUnsupportedMediaType:
					t.Errorf("%s %s: got %d %s", path, kind, answer.Code, answer.Body)
				}
			}
		}
	}
}

// unread is a body that fails the test if it is read.
type unread struct {
	t    *testing.T
	name string
}

func (u *unread) Read([]byte) (int, error) {
	u.t.Errorf("%s: the body is read", u.name)
	return 0, io.ErrUnexpectedEOF
}

// cloner implements the operation of speech that accepts an upload.
type cloner struct {
	oas.UnimplementedHandler
	took  func(file io.Reader) error
	calls atomic.Int32
}

func (c *cloner) CloneVoice(_ context.Context, req *oas.VoiceCloneMultipart) (*oas.VoiceCloneReply, error) {
	c.calls.Add(1)
	for _, sample := range req.AudioSamples {
		if err := c.took(sample.File); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("cloned")
}

func (*cloner) GetSpeechSample(context.Context, oas.GetSpeechSampleParams, http.ResponseWriter) error {
	return callwright.ErrNotImplemented
}

// area returns the area of speech with c as its handler.
func (c *cloner) area() httpapi.Area {
	area := speechapi.New(speechapi.Config{})
	area.NoUploads, area.Absent = false, nil
	area.Area, area.Refuse, area.Outer, area.Inner = oas.Area(c), nil, nil, nil
	return area
}

// TestUploadsAtOnceAreBounded checks the bound of concurrent uploads, in total and per organization. The organizations begin uploads and
// never finish them.
func TestUploadsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	c := &cloner{took: func(io.Reader) error { return nil }}
	h := open(t, func(config *httpapi.Config) { config.Areas = []httpapi.Area{c.area()} })
	keys := []string{h.key}
	for i := range 5 {
		_, key := h.tenant(fmt.Sprintf("t%d", i))
		keys = append(keys, key)
	}
	synctest.Test(t, func(t *testing.T) {
		crowd := newCrowd(h)
		var begun atomic.Int32
		var ends []*io.PipeWriter
		begin := func(key string) {
			reader, writer := io.Pipe()
			ends = append(ends, writer)
			r := httptest.NewRequestWithContext(context.Background(), "POST", "/v1/voices/clone", reader)
			r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
			r.Header.Set("Authorization", key)
			r.ContentLength = 10 << 20
			crowd.serve(r)
			go func() {
				if _, err := io.WriteString(writer, "--b\r\n"); err == nil {
					begun.Add(1)
				}
			}()
			synctest.Wait()
		}
		for range 10 {
			begin(keys[0])
		}
		if n := begun.Load(); n != 6 {
			t.Errorf("%d uploads of one organization are read at once, want 6", n)
		}
		for i := range 50 {
			begin(keys[1+i%5])
		}
		if n := begun.Load(); n != 25 {
			t.Errorf("%d uploads are read at once, want 25", n)
		}
		<-time.After(time.Minute)
		if n := crowd.statuses[503].Load(); n != 35 {
			t.Errorf("%d uploads were answered 503, want 35", n)
		}
		for _, end := range ends {
			_ = end.Close()
		}
		synctest.Wait()
		if begin(keys[0]); begun.Load() != 26 {
			t.Error("what was taken is not given back")
		}
		_ = ends[len(ends)-1].Close()
	})
}

// TestUploadsLieOnDisk checks that a large upload is in a temporary file while its operation runs.
func TestUploadsLieOnDisk(t *testing.T) {
	t.Parallel()
	c := &cloner{took: func(file io.Reader) error {
		if named, ok := file.(interface{ Name() string }); !ok || named.Name() == "" {
			return fmt.Errorf("the upload is a %T", file)
		}
		return nil
	}}
	h := open(t, func(config *httpapi.Config) { config.Areas = []httpapi.Area{c.area()} })
	body := "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAnna\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"audio_samples\"; filename=\"x\"\r\n\r\n" + strings.Repeat("x", 1<<20) + "\r\n--b--\r\n"
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/voices/clone", strings.NewReader(body))
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.Header.Set("Authorization", h.key)
	answer := httptest.NewRecorder()
	h.unchecked.ServeHTTP(answer, r)
	if text := h.log.String(); c.calls.Load() != 1 || !strings.Contains(text, `"cloned"`) {
		t.Errorf("got %d %s: %s", answer.Code, answer.Body, text)
	}
}
