package speechapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/node"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/internal/wire"
	oas "github.com/callwright/callwright/transport/oas/speechoas"
)

// ListSpeechSamples serves GET /v1/speak/samples. It returns a page of samples, optionally of one voice.
func (a *api) ListSpeechSamples(ctx context.Context, params oas.ListSpeechSamplesParams) (*oas.SpeechSampleListReply, error) {
	q := speech.SampleQuery{Voice: params.VoiceID.Or(""), Limit: params.Limit.Value, Offset: params.Offset.Value}
	list, err := a.cfg.Speech.Samples(ctx, httpapi.Org(ctx), q)
	if err != nil {
		return nil, err
	}
	reply := &oas.SpeechSampleListReply{Data: make([]oas.SpeechSample, len(list.Samples)), Total: list.Total, Limit: q.Limit, Offset: q.Offset}
	for i, s := range list.Samples {
		reply.Data[i] = a.sampleRecord(s)
	}
	return reply, nil
}

func (a *api) sampleRecord(s speech.Sample) oas.SpeechSample {
	return oas.SpeechSample{
		ID: s.ID, SampleID: s.ID, OrgID: string(s.Org), UserID: wire.NilText(s.User), Text: s.Text, VoiceID: s.Voice,
		Language: wire.NilText(s.Language), OutputFormat: oas.SpeechFormat(s.Format), DurationMs: int(s.Duration.Milliseconds()),
		LatencyMs: int(s.Latency.Milliseconds()), Cost: oas.NilFloat64{Null: true}, URL: a.link(s), CreatedAt: s.CreatedAt.UTC(),
	}
}

// GetSpeechSample serves GET /v1/speak/samples/{id}. It sends a sample's record or its audio. A link, which requires no key, leads only to
// the audio.
func (a *api) GetSpeechSample(ctx context.Context, params oas.GetSpeechSampleParams, w http.ResponseWriter) error {
	switch signature := params.Signature.Or(""); {
	case params.Format.Value != oas.GetSpeechSampleFormatAudio:
		return a.sendSample(ctx, params.ID, w)
	case signature != "":
		link := speech.Link{Sample: params.ID, Expires: time.Unix(params.Expires.Or(0), 0).UTC(), Signature: signature}
		audio, err := a.cfg.Speech.Linked(ctx, link)
		if err != nil {
			return err
		}
		left := max(0, int(link.Expires.Sub(httpapi.Now(ctx)).Seconds()))
		sendAudio(ctx, w, params, audio, "private, max-age="+strconv.Itoa(left))
		return nil
	default:
		audio, err := a.cfg.Speech.Audio(ctx, httpapi.Org(ctx), params.ID)
		if err != nil {
			return err
		}
		sendAudio(ctx, w, params, audio, "private, no-store")
		return nil
	}
}

// DeleteSpeechSample serves DELETE /v1/speak/samples/{id}. It deletes a sample.
func (a *api) DeleteSpeechSample(ctx context.Context, params oas.DeleteSpeechSampleParams) (*oas.SpeechSampleDeletedReply, error) {
	if err := a.cfg.Speech.DeleteSample(ctx, httpapi.Org(ctx), params.ID); err != nil {
		return nil, err
	}
	return &oas.SpeechSampleDeletedReply{Data: oas.SpeechSampleDeleted{Status: "success", Message: "The sample is deleted."}}, nil
}

// link returns the signed address of a sample's audio.
func (a *api) link(s speech.Sample) string {
	l := a.cfg.Speech.Link(s)
	query := url.Values{
		"format": {string(oas.GetSpeechSampleFormatAudio)}, "expires": {strconv.FormatInt(l.Expires.Unix(), 10)}, "signature": {l.Signature},
	}
	return a.cfg.URL + "/v1/speak/samples/" + url.PathEscape(s.ID) + "?" + query.Encode()
}

// isLink reports whether the URL of a request has the form of a link. It does not check the signature.
func isLink(r *http.Request) bool {
	query := r.URL.Query()
	return query.Get("format") == string(oas.GetSpeechSampleFormatAudio) && query.Get("signature") != ""
}

// sendAudio sends audio, or the range that the request names. cache is the Cache-Control of the answer. It closes the audio.
func sendAudio(ctx context.Context, w http.ResponseWriter, params oas.GetSpeechSampleParams, audio speech.Audio, cache string) {
	defer func() { _ = audio.Close() }()
	// ServeContent reads only the method and the range and conditional headers of this request.
	asked := &http.Request{Method: http.MethodGet, Header: http.Header{}}
	if httpapi.Head(ctx) {
		asked.Method = http.MethodHead
	}
	for name, value := range map[string]oas.OptString{
		"Range": params.Range, "If-Range": params.IfRange, "If-None-Match": params.IfNoneMatch, "If-Modified-Since": params.IfModifiedSince,
	} {
		if text, ok := value.Get(); ok {
			asked.Header.Set(name, text)
		}
	}
	h := w.Header()
	h.Set("Content-Type", wav)
	h.Set("Content-Disposition", fmt.Sprintf("inline; filename=%q", audio.ID+".wav"))
	h.Set("Cache-Control", cache)
	h.Set("ETag", strconv.Quote(audio.Blob))
	http.ServeContent(w, asked.WithContext(ctx), "", audio.CreatedAt, &noted{ctx, audio})
}

// noted logs the errors of audio that is being sent. After an error, net/http closes the connection, because fewer bytes than announced
// were sent.
type noted struct {
	ctx context.Context //nolint:containedctx // of the request, for its log line
	io.ReadSeeker
}

// Read reads the audio, and logs any error but io.EOF.
func (n *noted) Read(p []byte) (int, error) {
	count, err := n.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		httpapi.LogFailure(n.ctx, err)
	}
	return count, err
}

// Limits of audio in JSON answers, in bytes.
const (
	maxInline   = 4 << 20 // of a file; larger audio is available only by its link
	inlineCost  = 4       // memory per byte of audio: the file, its base64, and the growing answer
	inlineTotal = 128 << 20
	inlineShare = 32 << 20 // maximum per organization
	inlineWait  = 10 * time.Second
)

func newAudio() *node.Budget {
	return &node.Budget{
		Total: inlineTotal, Share: inlineShare, Wait: inlineWait, Busy: "too many samples are being read with their audio: send the request again later, or use the link",
	}
}

// sendSample sends a sample's record. It includes the audio if that has at most maxInline bytes.
func (a *api) sendSample(ctx context.Context, id string, w http.ResponseWriter) error {
	org := httpapi.Org(ctx)
	s, err := a.cfg.Speech.Sample(ctx, org, id)
	if err != nil {
		return err
	}
	release, err := a.audio.Claim(ctx, string(org), inlineCost*min(s.Bytes, maxInline))
	if err != nil {
		return err
	}
	defer release()
	data, err := a.inline(ctx, s)
	if err != nil {
		return err
	}
	r := a.sampleRecord(s)
	reply := oas.SpeechSampleReply{Data: oas.SpeechSampleDetail{
		ID: r.ID, SampleID: r.SampleID, OrgID: r.OrgID, UserID: r.UserID, Text: r.Text, VoiceID: r.VoiceID, Language: r.Language,
		OutputFormat: r.OutputFormat, DurationMs: r.DurationMs, LatencyMs: r.LatencyMs, Cost: r.Cost, URL: r.URL, CreatedAt: r.CreatedAt,
		AudioData: data,
	}}
	var text jx.Encoder
	reply.Encode(&text)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = text.WriteTo(w) // fails only if the client has disconnected
	return nil
}

// inline returns the audio of a sample, or nil if it has more than maxInline bytes.
func (a *api) inline(ctx context.Context, s speech.Sample) ([]byte, error) {
	if s.Bytes > maxInline {
		return nil, nil
	}
	audio, err := a.cfg.Speech.Audio(ctx, s.Org, s.ID)
	if err != nil {
		return nil, err
	}
	defer func() { _ = audio.Close() }()
	data := make([]byte, s.Bytes)
	if _, err := io.ReadFull(audio, data); err != nil {
		return nil, fmt.Errorf("audio of sample %s: %w", s.ID, err)
	}
	return data, nil
}
