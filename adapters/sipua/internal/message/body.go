package message

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/agents/call"
)

// SDP is the media type of a session description.
const SDP = "application/sdp"

// Accepted lists the media types of INVITE bodies that are supported, for the Accept header.
const Accepted = SDP + ", multipart/mixed"

// The limits of a multipart body. Usual bodies have two or three parts.
const (
	maxBodyParts = 16
	maxBodyDepth = 3 // nesting of multipart bodies
)

// Body is the body of a message, split into its parts.
type Body struct {
	SDP   []byte      // the session description; nil if there is none
	Parts []call.Part // all parts but SDP
	Types []string    // media types of all parts, in order
}

var (
	errBodyType  = errors.New("a body of a type that is not understood")
	errBodyParts = errors.New("a malformed multipart body")
)

// ReadBody splits a body into its parts. The session description is the body itself, or the first part of that type (RFC 5621). Other
// parts, and a body whose handling is optional, are stored without interpretation. It returns an error if the body has no Content-Type, if
// a multipart body is malformed or exceeds the limits, or if a body or part of another type is required.
func ReadBody(msg interface {
	GetHeaders(name string) []sip.Header
	Body() []byte
}) (Body, error) {
	var b Body
	if len(msg.Body()) == 0 {
		return b, nil
	}
	whole := part{
		kind: valueOf(msg, "Content-Type", "c"), disposition: valueOf(msg, "Content-Disposition"),
		data: msg.Body(), alone: true,
	}
	if whole.kind == "" {
		return b, errBodyType
	}
	return b, b.add(whole, 0)
}

// part is a whole body or one of its parts.
type part struct {
	kind, disposition string
	data              []byte
	alone             bool // the part is the whole body
}

// add adds a part, or the parts of a multipart part.
func (b *Body) add(p part, depth int) error {
	kind, params, _ := mime.ParseMediaType(p.kind)
	if kind == "" { // invalid parameters must not make the call fail
		text, _, _ := strings.Cut(p.kind, ";")
		kind = strings.ToLower(strings.TrimSpace(text))
	}
	if strings.HasPrefix(kind, "multipart/") {
		return b.split(p.data, params["boundary"], depth)
	}
	if b.Types = append(b.Types, kind); len(b.Types) > maxBodyParts {
		return errBodyParts
	}
	if kind == SDP && b.SDP == nil {
		b.SDP = p.data
		return nil
	}
	if handling := handlingOf(p.disposition); handling == "required" || p.alone && handling == "" {
		return errBodyType
	}
	b.Parts = append(b.Parts, call.Part{Type: Text(p.kind), Disposition: Text(p.disposition), Data: bytes.Clone(p.data)})
	return nil
}

// split adds the parts of a multipart body. depth is the nesting of the body.
func (b *Body) split(data []byte, boundary string, depth int) error {
	if boundary == "" || depth == maxBodyDepth {
		return errBodyParts
	}
	for parts, n := multipart.NewReader(bytes.NewReader(data), boundary), 0; ; n++ {
		next, err := parts.NextPart() // decodes quoted-printable
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return errBodyParts
		}
		p := part{kind: next.Header.Get("Content-Type"), disposition: next.Header.Get("Content-Disposition")}
		if p.data, err = io.ReadAll(next); err != nil {
			return errBodyParts
		}
		if strings.EqualFold(strings.TrimSpace(next.Header.Get("Content-Transfer-Encoding")), "base64") {
			if p.data, err = io.ReadAll(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(p.data))); err != nil {
				return errBodyParts
			}
		}
		if p.kind == "" {
			p.kind = "text/plain" // the default of RFC 2045, section 5.2
		}
		if err := b.add(p, depth+1); err != nil {
			return err
		}
	}
}

// handlingOf returns the handling parameter of a Content-Disposition (RFC 3261, 20.11) in lower case, or an empty text.
func handlingOf(disposition string) string {
	_, params, _ := mime.ParseMediaType(disposition)
	return strings.ToLower(params["handling"])
}

// valueOf returns the value of the first header with one of the names, or an empty text. Earlier names have priority.
func valueOf(msg interface {
	GetHeaders(name string) []sip.Header
}, names ...string,
) string {
	for _, name := range names {
		for _, h := range msg.GetHeaders(name) {
			return h.Value()
		}
	}
	return ""
}

// checkBody returns a refusal for an INVITE or ACK whose body is not supported: 400 for a malformed multipart body, and otherwise 415 with
// the supported types (RFC 3261, 8.2.3). It returns nil for any other request.
func checkBody(req *sip.Request) *Refusal {
	if len(req.Body()) == 0 || req.Method != sip.INVITE && req.Method != sip.ACK {
		return nil
	}
	encoding := strings.TrimSpace(valueOf(req, "Content-Encoding", "e"))
	_, err := ReadBody(req)
	switch {
	case errors.Is(err, errBodyParts):
		return &Refusal{Status: sip.StatusBadRequest}
	case err != nil || encoding != "" && !strings.EqualFold(encoding, "identity"):
		return &Refusal{Status: sip.StatusUnsupportedMediaType, Headers: []sip.Header{
			sip.NewHeader("Accept", Accepted), sip.NewHeader("Accept-Encoding", "identity"),
		}}
	}
	return nil
}

// Description returns the session description of a message, or nil if it contains none or its body is invalid.
func Description(msg interface {
	GetHeaders(name string) []sip.Header
	Body() []byte
}) []byte {
	b, err := ReadBody(msg)
	if err != nil {
		return nil
	}
	return b.SDP
}
