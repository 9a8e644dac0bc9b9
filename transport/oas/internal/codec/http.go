package codec

import (
	"bytes"
	"io"
	"mime"
	"net/http"

	"github.com/go-faster/errors"
	"github.com/go-faster/jx"
	ht "github.com/ogen-go/ogen/http"
	"github.com/ogen-go/ogen/ogenerrors"
	"github.com/ogen-go/ogen/validate"
)

const mediaType = "application/json"

// body constrains a pointer to a type that can be decoded from a JSON body and validated.
type body[T any] interface {
	*T
	Decoder
	Validator
}

// read decodes and validates a whole body. Trailing data is an error.
func read[T any, P body[T]](text []byte) (*T, error) {
	d := jx.DecodeBytes(text)
	value := new(T)
	err := P(value).Decode(d)
	if err == nil && d.Skip() != io.EOF { //nolint:errorlint // jx returns it as it is
		err = errors.New("unexpected trailing data")
	}
	if err != nil {
		return nil, &ogenerrors.DecodeBodyError{ContentType: mediaType, Body: text, Err: err}
	}
	if err := P(value).Validate(); err != nil {
		return nil, errors.Wrap(err, "validate")
	}
	return value, nil
}

// ReadRequest decodes and validates the required JSON body of a request. It also returns the text, and replaces r.Body so that it can be
// read again. closeBody exists because ogen's code calls it; it does nothing.
func ReadRequest[T any, P body[T]](r *http.Request) (value *T, text []byte, closeBody func() error, err error) {
	if text, err = requestText(r); err == nil {
		value, err = read[T, P](text)
	}
	return value, text, func() error { return nil }, err
}

func requestText(r *http.Request) ([]byte, error) {
	contentType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, errors.Wrap(err, "parse media type")
	}
	if contentType != mediaType {
		return nil, validate.InvalidContentType(contentType)
	}
	if r.ContentLength == 0 {
		return nil, validate.ErrBodyRequired
	}
	text, err := io.ReadAll(r.Body)
	defer func() { _ = r.Body.Close() }()
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewBuffer(text))
	if len(text) == 0 {
		return nil, validate.ErrBodyRequired
	}
	return text, nil
}

// WriteRequest sets the body of a request to the JSON of a value.
func WriteRequest(r *http.Request, value Encoder) {
	e := new(jx.Encoder)
	value.Encode(e)
	ht.SetBody(r, bytes.NewReader(e.Bytes()), mediaType)
}

// ReadResponse decodes and validates the JSON body of an answer.
func ReadResponse[T any, P body[T]](resp *http.Response) (*T, error) {
	contentType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return nil, errors.Wrap(err, "parse media type")
	}
	if contentType != mediaType {
		return nil, validate.InvalidContentType(contentType)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return read[T, P](text)
}

// WriteResponse writes an answer with the given status and the JSON of the value.
func WriteResponse(w http.ResponseWriter, status int, value Encoder) error {
	w.Header().Set("Content-Type", mediaType+"; charset=utf-8")
	w.WriteHeader(status)
	e := jx.GetEncoder()
	defer jx.PutEncoder(e)
	value.Encode(e)
	_, err := e.WriteTo(w)
	return Wrap(err, "write")
}

// Do sends a request and decodes the answer. It reads the answer's body to its end, so that the connection can be reused.
func Do[T any](client ht.Client, r *http.Request, decode func(*http.Response) (T, error)) (result T, err error) {
	resp, err := client.Do(r) //nolint:bodyclose // the deferred function closes it
	if err != nil {
		return result, errors.Wrap(err, "do request")
	}
	body := resp.Body
	defer func() {
		_, _ = io.Copy(io.Discard, body)
		_ = body.Close()
	}()
	answer, err := decode(resp)
	if err != nil {
		return result, errors.Wrap(err, "decode response")
	}
	return answer, nil
}
