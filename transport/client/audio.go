package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/callwright/callwright"
)

// SpeakTo converts text to speech and writes the audio to w. If only the download fails, it returns the speech with the error.
func (c *Client) SpeakTo(ctx context.Context, w io.Writer, q SpeakRequest) (Speech, error) {
	s, err := c.Speak(ctx, q)
	if err != nil {
		return s, err
	}
	_, err = c.Download(ctx, w, s.URL)
	return s, err
}

// SpeakToBuffer converts text to speech and returns the audio, which has at most Config.MaxAudio bytes.
func (c *Client) SpeakToBuffer(ctx context.Context, q SpeakRequest) ([]byte, Speech, error) {
	var audio bytes.Buffer
	s, err := c.SpeakTo(ctx, &audio, q)
	if err != nil {
		return nil, s, err
	}
	return audio.Bytes(), s, nil
}

// Download fetches the audio at a link from the server and writes it to w. It does not send the key. It returns the size in bytes. If the
// file does not begin like audio, it writes nothing and returns CodeUnsupportedMedia. After other errors, w may contain a part of the
// audio.
func (c *Client) Download(ctx context.Context, w io.Writer, link string) (int64, error) {
	u, err := url.Parse(link)
	if err != nil {
		return 0, callwright.Invalid("url", "must be a valid URL")
	}
	u = c.base.ResolveReference(u)
	if err := checkLink(u, c.base); err != nil {
		return 0, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return 0, callwright.Invalid("url", "must be a valid URL")
	}
	r.Header.Set("Accept", "audio/wav, audio/*;q=0.9")
	resp, err := c.load(r) //nolint:bodyclose // copyAudio closes it
	if err != nil {
		return 0, err
	}
	return c.copyAudio(w, r, resp)
}

// SampleAudio writes the audio of a sample to w, as Download does. It does not use the sample's link, which may have expired.
func (c *Client) SampleAudio(ctx context.Context, w io.Writer, id string) (int64, error) {
	if err := checkID(sampleField, id); err != nil {
		return 0, err
	}
	r, err := c.request(ctx, Request{
		Path: Path("v1", "speak", "samples", id), Query: url.Values{"format": {"audio"}},
		Header: http.Header{"Accept": {"audio/wav, audio/*;q=0.9"}},
	})
	if err != nil {
		return 0, err
	}
	resp, err := c.send(r) //nolint:bodyclose // copyAudio closes it
	if err != nil {
		return 0, err
	}
	return c.copyAudio(w, r, resp)
}

// copyAudio writes the body of an answer to w if the body is audio, and closes the body.
func (c *Client) copyAudio(w io.Writer, r *http.Request, resp *http.Response) (int64, error) {
	defer func() { _ = resp.Body.Close() }()
	head := make([]byte, headSize)
	n, err := io.ReadFull(resp.Body, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return 0, c.noAnswer(r.Context(), r, err)
	}
	if head = head[:n]; !isAudio(head) {
		return 0, callwright.Errorf(callwright.CodeUnsupportedMedia, "%s: the audio must be WAV, Ogg, FLAC or MP3, but the answer is not: nothing was written", operation(r))
	}
	if resp.ContentLength > c.cfg.MaxAudio {
		return 0, c.tooLong(r)
	}
	from := &counted{Reader: io.MultiReader(bytes.NewReader(head), resp.Body)}
	written, err := io.Copy(w, io.LimitReader(from, c.cfg.MaxAudio))
	switch {
	case from.err != nil:
		return written, c.noAnswer(r.Context(), r, from.err)
	case err != nil:
		return written, err
	case written == c.cfg.MaxAudio && more(resp.Body):
		return written, c.tooLong(r)
	case cutShort(head, written):
		return written, callwright.Errorf(callwright.CodeUnavailable, "%s: the audio is incomplete: it ended after %d bytes; download it again", operation(r), written)
	}
	return written, nil
}

func (c *Client) tooLong(r *http.Request) error {
	return callwright.Errorf(callwright.CodePayloadTooLarge, "%s: the audio has more than %d bytes: raise Config.MaxAudio", operation(r), c.cfg.MaxAudio)
}

// more reports whether a body contains another byte.
func more(body io.Reader) bool {
	n, _ := io.ReadFull(body, make([]byte, 1))
	return n > 0
}

// counted records the error of a reader, because io.Copy does not distinguish the error from an error of the writer.
type counted struct {
	io.Reader

	err error
}

// Read reads from Reader and records an error other than io.EOF.
func (r *counted) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// headSize is the number of bytes that isAudio requires.
const headSize = 12

// isAudio reports whether a file begins like WAV, Ogg, FLAC or MP3.
func isAudio(head []byte) bool {
	switch {
	case len(head) < headSize:
		return false
	case string(head[:4]) == "RIFF":
		return string(head[8:12]) == "WAVE"
	case string(head[:4]) == "OggS", string(head[:4]) == "fLaC", string(head[:3]) == "ID3":
		return true
	}
	return head[0] == 0xff && head[1]&0xe6 == 0xe2 // frame sync, layer III
}

// cutShort reports whether a WAV file has fewer bytes than its header states. The header of a stream states a size of 0 or near the
// maximum, which cutShort ignores.
func cutShort(head []byte, size int64) bool {
	if string(head[:4]) != "RIFF" {
		return false
	}
	claimed := binary.LittleEndian.Uint32(head[4:8])
	return claimed < 0xfffff000 && int64(claimed)+8 > size
}
