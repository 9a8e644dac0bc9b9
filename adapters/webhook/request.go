package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"code.dny.dev/ssrf"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/request"
)

var _ request.Client = (*Sender)(nil)

// Do implements request.Client. The request carries no signature. A Timeout of 0 means request.DefaultTimeout, and a longer one than
// request.LongestTimeout is shortened.
func (s *Sender) Do(ctx context.Context, r request.Request) (request.Response, error) {
	if err := s.CheckURL(r.URL); err != nil {
		return request.Response{}, err
	}
	longest := min(r.Timeout, request.LongestTimeout)
	if longest <= 0 {
		longest = request.DefaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	message, err := http.NewRequestWithContext(timed, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return request.Response{}, callwright.Invalid("", "must have an HTTP method such as GET or POST, not %.40q", r.Method).Because(err)
	}
	for _, h := range r.Header {
		message.Header.Add(h.Name, h.Value)
	}
	if message.UserAgent() == "" {
		message.Header.Set("User-Agent", userAgent)
	}
	status, body, err := s.exchange(message)
	if err != nil {
		return request.Response{}, unavailable(timed, longest, err)
	}
	if len(body) > request.MaxAnswer {
		return request.Response{}, callwright.Errorf(callwright.CodeUnavailable, "the answer has more than %d bytes", request.MaxAnswer)
	}
	return request.Response{Status: status, Body: body}, nil
}

// exchange sends a request and reads at most request.MaxAnswer+1 bytes of the answer, so that Do recognizes a longer answer.
func (s *Sender) exchange(message *http.Request) (status int, body []byte, err error) {
	response, err := s.client.Do(message)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, request.MaxAnswer+1))
	return response.StatusCode, body, err
}

// unavailable describes why no answer arrived. It omits the URL, because not every reader of the error may see it.
func unavailable(ctx context.Context, longest time.Duration, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	text := "the connection failed"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		text = "no answer within " + longest.String()
	case ctx.Err() != nil:
		text = "the request was canceled"
	case errors.Is(err, ssrf.ErrProhibitedIP):
		text = "the address of the host is not public"
	default:
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			text = "the certificate can't be trusted"
		}
	}
	return (&callwright.Error{Code: callwright.CodeUnavailable, Message: text}).Because(err)
}
