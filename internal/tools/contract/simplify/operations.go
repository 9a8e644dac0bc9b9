package simplify

import (
	"regexp"
	"strings"
)

// returnOnError is the code after a call in the client. It returns an error of the call.
const returnOnError = "; err != nil {\nreturn res, err\n}"

// securityBlock returns ogen's check of the only security scheme. try is the code of the attempt, and refuse the code of the refusal.
func securityBlock(try, refuse string) string {
	return `{
		type bitset = [1]uint8
		var satisfied bitset
		{ ` + try + ` }
		if ok := func() bool {
		nextRequirement:
			for _, requirement := range []bitset{{0b00000001}} {
				for i, mask := range requirement {
					if satisfied[i]&mask != mask { continue nextRequirement }
				}
				return true
			}
			return false
		}(); !ok { ` + refuse + ` }
	}`
}

// serverRules move the code around each operation into methods of the server, which [Methods] returns.
var serverRules = []rule{
	{
		name: "who asks",
		before: `statusWriter := &codeRecorder{ResponseWriter: w}
			w = statusWriter
			ctx := r.Context()
			var (
				err error
				opErrContext = ogenerrors.OperationContext{Name: E_op, ID: E_id}
			)
			` + securityBlock(`sctx, ok, err := s.securityApiKey(ctx, E_op, r)
				if err != nil {
					err = &ogenerrors.SecurityError{OperationContext: opErrContext, Security: "ApiKey", Err: err}
					if encodeErr := encodeErrorResponse(s.h.NewError(ctx, err), w); encodeErr != nil {
						defer recordError("Security:ApiKey", err)
					}
					return
				}
				if ok {
					satisfied[0] |= 1 << 0
					ctx = sctx
				}`, `err = &ogenerrors.SecurityError{OperationContext: opErrContext, Err: ogenerrors.ErrSecurityRequirementIsNotSatisfied}
				if encodeErr := encodeErrorResponse(s.h.NewError(ctx, err), w); encodeErr != nil {
					defer recordError("Security", err)
				}
				return`),
		after: "opErrContext := ogenerrors.OperationContext{Name: E_op, ID: E_id}\nctx, err := s.authorize(w, r, opErrContext)\nif err != nil {\nreturn\n}",
	},
	{
		name: "an operation for everybody",
		before: `statusWriter := &codeRecorder{ResponseWriter: w}
			w = statusWriter
			ctx := r.Context()
			var (
				err error
				opErrContext = ogenerrors.OperationContext{Name: E_op, ID: E_id}
			)`,
		after: "opErrContext := ogenerrors.OperationContext{Name: E_op, ID: E_id}\nvar err error\nctx := r.Context()",
	},
	{
		name: "parameters of an operation",
		before: `params, err := E_decode
			if err != nil {
				err = &ogenerrors.DecodeParamsError{OperationContext: opErrContext, Err: err}
				defer recordError("DecodeParams", err)
				s.cfg.ErrorHandler(ctx, w, r, err)
				return
			}`,
		after: "params, err := E_decode\nif err != nil {\ns.cfg.ErrorHandler(ctx, w, r, &ogenerrors.DecodeParamsError{OperationContext: opErrContext, Err: err})\nreturn\n}",
	},
	{
		name: "the body of an operation",
		before: `var rawBody []byte
			request, rawBody, close, err := E_decode
			if err != nil {
				err = &ogenerrors.DecodeRequestError{OperationContext: opErrContext, Err: err}
				defer recordError("DecodeRequest", err)
				s.cfg.ErrorHandler(ctx, w, r, err)
				return
			}
			defer func() {
				if err := close(); err != nil { recordError("CloseRequest", err) }
			}()`,
		after: "request, rawBody, closeBody, err := E_decode\nif err != nil {\n" +
			"s.cfg.ErrorHandler(ctx, w, r, &ogenerrors.DecodeRequestError{OperationContext: opErrContext, Err: err})\nreturn\n}\ndefer closeBody()",
	},
	{
		name: "the operation",
		before: `var response E_R
			if m := s.cfg.Middleware; m != nil { ` + hooked("response", "response") + ` } else { response, err = E_call }`,
		after: `response, err := codec.E_handle(s.cfg.Middleware, E_request, E_unpack, E_method)`,
		where: operation,
	},
	{
		name: "an operation without an answer",
		before: `var response E_R
			if m := s.cfg.Middleware; m != nil { ` + hooked("response", "") + ` } else { err = E_call }`,
		after: "response, err := codec.E_handle(s.cfg.Middleware, E_request, E_unpack, E_adapter)",
		where: operation,
	},
	{
		name:   "an operation that writes its answer",
		before: `if m := s.cfg.Middleware; m != nil { ` + hooked("_", "") + ` } else { err = E_call }`,
		after:  "_, err = codec.E_handle(s.cfg.Middleware, E_request, E_unpack, E_adapter)",
		where:  operation,
	},
	{name: "no body", before: `var rawBody []byte; response, err := E_call`, after: `response, err := E_call`, where: withoutBody},
	{name: "no body and no answer", before: `var rawBody []byte; _, err = E_call`, after: `_, err = E_call`, where: withoutBody},
	{
		name: "the answer",
		before: handlerFailed + `
			if err := E_encode; err != nil {
				defer recordError("EncodeResponse", err)
				if !errors.Is(err, ht.ErrInternalServerErrorResponse) { s.cfg.ErrorHandler(ctx, w, r, err) }
				return
			}`,
		after: "if err != nil {\ns.fail(ctx, w, r, err)\n} else if err := E_encode; err != nil {\ns.unsent(ctx, w, r, err)\n}",
	},
	{name: "the failure alone", before: handlerFailed, after: "if err != nil {\ns.fail(ctx, w, r, err)\n}"},
}

// hooked returns ogen's code that runs an operation inside middleware. into is the name of the variable that receives the answer. If from
// is not empty, it is the name of the variable that receives the operation's result.
func hooked(into, from string) string {
	if from != "" {
		from += ", "
	}
	return `mreq := E_request
		type (Request = E_Q; Params = E_P; Response = E_A)
		` + into + `, err = middleware.HookMiddleware[Request, Params, Response](m, mreq, E_unpack,
			func(ctx context.Context, request Request, params Params) (response Response, err error) {
				` + from + `err = E_call
				return response, err
			})`
}

var (
	call      = regexp.MustCompile(`^(s\.r?h\.\w+)\((.*)\)$`)
	parameter = regexp.MustCompile(`\{\s*Name:\s*("[^"]*"),\s*In:\s*("[^"]*"),\s*\}: (\S+),`)
	field     = regexp.MustCompile(`(?m)^\s*(\w+):\s+(.*?),?$`)
	handlers  = map[string]string{
		"ctx": "Handle", "ctx, params": "HandleParams", "ctx, request": "HandleBody", "ctx, request, params": "HandleBodyParams",
	}
)

// operation chooses the function of package codec that runs an operation, and shortens the literal of the middleware's request. It returns
// false if no function fits.
func operation(texts map[string]string) bool {
	found := call.FindStringSubmatch(texts["E_call"])
	if found == nil {
		return false
	}
	arguments, writes := strings.CutSuffix(found[2], ", w")
	answer := texts["E_A"]
	texts["E_handle"], texts["E_method"] = handlers[arguments], found[1]
	if writes {
		answer = "struct{}"
	}
	takes := strings.NewReplacer("ctx", "ctx context.Context", "request", "request "+texts["E_Q"], "params", "params "+texts["E_P"]).Replace(arguments)
	texts["E_adapter"] = "func(" + takes + ") (response " + answer + ", err error) {\nerr = " + texts["E_call"] + "\nreturn response, err\n}"
	fields := parameter.ReplaceAllString(texts["E_request"], "{Name: $1, In: $2}: $3,")
	parameters := ""
	if begin := strings.Index(fields, "Params: middleware.Parameters{\n"); begin >= 0 {
		end := begin + strings.Index(fields[begin:], "\n\t\t\t},")
		parameters, fields = fields[begin:end]+"\n},\n", fields[:begin]+fields[end+len("\n\t\t\t},"):]
	}
	var line []string
	for _, f := range field.FindAllStringSubmatch(fields, -1) {
		if f[2] != "nil" && f[2] != "middleware.Parameters{}" {
			line = append(line, f[1]+": "+f[2])
		}
	}
	texts["E_request"] = "middleware.Request{\n" + strings.Join(line, ", ") + ",\n" + parameters + "}"
	return texts["E_handle"] != ""
}

// withoutBody removes the raw body from the call of an operation without a body.
func withoutBody(texts map[string]string) bool {
	texts["E_call"] = strings.Replace(texts["E_call"], "RawBody: rawBody, ", "", 1)
	return true
}

// handlerFailed is ogen's code that handles the error of an operation.
const handlerFailed = `if err != nil {
		if errRes, ok := errors.Into[*ErrorStatusCodeWithHeaders](err); ok {
			if err := encodeErrorResponse(errRes, w); err != nil { defer recordError("Internal", err) }
			return
		}
		if errors.Is(err, ht.ErrNotImplemented) {
			s.cfg.ErrorHandler(ctx, w, r, err)
			return
		}
		if err := encodeErrorResponse(s.h.NewError(ctx, err), w); err != nil { defer recordError("Internal", err) }
		return
	}`

// bodyRules replace the code that reads or writes a JSON body by one call.
var bodyRules = []rule{
	{
		name: "a body that is required",
		before: `func (s *Server) E_name(r *http.Request) (req *E_T, rawBody []byte, close func() error, rerr error) {
			` + closers + contentType + `
			switch {
			case ct == "application/json":
				if r.ContentLength == 0 { return req, rawBody, close, validate.ErrBodyRequired }
				buf, err := io.ReadAll(r.Body)
				defer func() { _ = r.Body.Close() }()
				if err != nil { return req, rawBody, close, err }
				r.Body = io.NopCloser(bytes.NewBuffer(buf))
				if len(buf) == 0 { return req, rawBody, close, validate.ErrBodyRequired }
				rawBody = append(rawBody, buf...)
				d := jx.DecodeBytes(buf)
				var request E_T
				` + decodeRequest + `
				if err := request.Validate(); err != nil { return req, rawBody, close, errors.Wrap(err, "validate") }
				return &request, rawBody, close, nil
			default:
				return req, rawBody, close, validate.InvalidContentType(ct)
			}
		}`,
		after: "func (s *Server) E_name(r *http.Request) (*E_T, []byte, func() error, error) { return codec.ReadRequest[E_T](r) }",
	},
	{
		name: "a body of the client",
		before: `const contentType = "application/json"
			e := new(jx.Encoder)
			{ req.Encode(e) }
			encoded := e.Bytes()
			ht.SetBody(r, bytes.NewReader(encoded), contentType)
			return nil`,
		after: "codec.WriteRequest(r, req)\nreturn nil",
	},
	{
		name: "an answer of the server",
		before: `w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(E_code)
			e := new(jx.Encoder)
			response.Encode(e)
			if _, err := e.WriteTo(w); err != nil { return errors.Wrap(err, "write") }
			return nil`,
		after: `return codec.WriteResponse(w, E_code, response)`,
	},
	{
		name: "an answer to the client",
		before: `ct, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
			if err != nil { return res, errors.Wrap(err, "parse media type") }
			switch {
			case ct == "application/json":
				buf, err := io.ReadAll(resp.Body)
				if err != nil { return res, err }
				d := jx.DecodeBytes(buf)
				var response E_T
				` + decodeResponse + `
				if err := response.Validate(); err != nil { return res, errors.Wrap(err, "validate") }
				return &response, nil
			default:
				return res, validate.InvalidContentType(ct)
			}`,
		after: `return codec.ReadResponse[E_T](resp)`,
	},
	{
		name:   "an error to the client",
		before: `defRes, err := func() (res *ErrorStatusCodeWithHeaders, err error) { S_body }(); if err != nil { return res, errors.Wrapf(err, "default (code %d)", resp.StatusCode) }; return res, errors.Wrap(defRes, "error")`,
		after:  `return res, errorOf(resp)`,
	},
}

const (
	closers = `var closers []func() error
		close = func() error {
			var merr error
			for i := len(closers) - 1; i >= 0; i-- {
				c := closers[i]
				merr = errors.Join(merr, c())
			}
			return merr
		}
		defer func() {
			if rerr != nil { rerr = errors.Join(rerr, close()) }
		}()
		`
	contentType = `ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil { return req, rawBody, close, errors.Wrap(err, "parse media type") }`
	decodeRequest = `if err := func() error {
			if err := request.Decode(d); err != nil { return err }
			if err := d.Skip(); err != io.EOF { return errors.New("unexpected trailing data") }
			return nil
		}(); err != nil {
			err = &ogenerrors.DecodeBodyError{ContentType: ct, Body: buf, Err: err}
			return req, rawBody, close, err
		}`
	decodeResponse = `if err := func() error {
			if err := response.Decode(d); err != nil { return err }
			if err := d.Skip(); err != io.EOF { return errors.New("unexpected trailing data") }
			return nil
		}(); err != nil {
			err = &ogenerrors.DecodeBodyError{ContentType: ct, Body: buf, Err: err}
			return res, err
		}`
)

// parameterRules replace the code that reads or writes a parameter by one call.
var parameterRules = []rule{
	{
		name:   "a text",
		before: `val, err := d.DecodeValue(); if err != nil { return err }; c, err := conv.ToString(val); if err != nil { return err }; E_to = c; return nil`,
		after:  `return codec.DecodeParamText(d, &E_to)`,
	},
	{
		name:   "a value",
		before: `val, err := d.DecodeValue(); if err != nil { return err }; c, err := E_convert(val); if err != nil { return err }; E_to = c; return nil`,
		after:  `return codec.DecodeParam(d, &E_to, E_convert)`,
	},
	{
		name: "a value of an enumeration",
		before: `val, err := d.DecodeValue(); if err != nil { return err }; c, err := conv.ToString(val); if err != nil { return err }; E_to = E_T(c)
			return nil`,
		after: `return codec.DecodeParamText(d, &E_to)`,
	},
	{
		name: "an optional parameter",
		before: `if err := func() error {
				cfg := E_config
				if err := E_source.HasParam(cfg); err == nil {
					if err := E_source.DecodeParam(cfg, func(d uri.Decoder) error { S_decode }); err != nil { return err }
					S_check
				}
				return nil
			}(); err != nil { return params, &ogenerrors.DecodeParamError{Name: E_name, In: E_in, Err: err} }`,
		after: "if err := codec.Param(E_source, E_config, false, func(d uri.Decoder) error {\nS_decode\n}, func() error {\nS_check\nreturn nil\n}); err != nil {\n" +
			"return params, codec.ParamError(E_name, E_in, err)\n}",
	},
	{
		name: "a required parameter",
		before: `if err := func() error {
				cfg := E_config
				if err := E_source.HasParam(cfg); err == nil {
					if err := E_source.DecodeParam(cfg, func(d uri.Decoder) error { S_decode }); err != nil { return err }
					S_check
				} else { return err }
				return nil
			}(); err != nil { return params, &ogenerrors.DecodeParamError{Name: E_name, In: E_in, Err: err} }`,
		after: "if err := codec.Param(E_source, E_config, true, func(d uri.Decoder) error {\nS_decode\n}, func() error {\nS_check\nreturn nil\n}); err != nil {\n" +
			"return params, codec.ParamError(E_name, E_in, err)\n}",
	},
	{
		name: "a parameter of the path",
		before: `if err := func() error {
				param := E_arg
				if argsEscaped {
					unescaped, err := url.PathUnescape(E_arg)
					if err != nil { return errors.Wrap(err, "unescape path") }
					param = unescaped
				}
				if len(param) > 0 {
					d := uri.NewPathDecoder(uri.PathDecoderConfig{Param: E_name, Value: param, Style: uri.PathStyleSimple})
					if err := E_decode; err != nil { return err }
					S_check
				} else { return validate.ErrFieldRequired }
				return nil
			}(); err != nil { return params, &ogenerrors.DecodeParamError{Name: E_name, In: "path", Err: err} }`,
		after: "if err := codec.PathParam(E_name, E_arg, argsEscaped, func(d uri.Decoder) error { return E_decode }, func() error {\nS_check\nreturn nil\n}); err != nil {\n" +
			"return params, err\n}",
	},
	{
		name: "the texts of a list",
		before: `E_to = nil
			return d.DecodeArray(func(d uri.Decoder) error {
				var E_v E_T
				if err := codec.DecodeParamText(d, &E_v); err != nil { return err }
				E_to = append(E_to, E_v)
				return nil
			})`,
		after: `return codec.DecodeParamTexts(d, &E_to)`,
	},
	{
		name:   "a function that sets an optional parameter",
		before: `var E_v E_T; if err := E_decode; err != nil { return err }; E_to.SetTo(E_v); return nil`,
		after:  "return codec.SetParam(d, E_to.SetTo, E_convert)",
		where:  setParam,
	},
	{
		name:   "a function that sets an optional text",
		before: `var E_v E_T; if err := codec.DecodeParamText(d, &E_v); err != nil { return err }; E_to.SetTo(E_v); return nil`,
		after:  "return codec.SetParamText(d, E_to.SetTo)",
	},
	{
		name:   "a required parameter behind middleware",
		before: `{ key := middleware.ParameterKey{Name: E_name, In: E_in}; E_to = packed[key].(E_T) }`,
		after:  `codec.Unpack(packed, E_name, E_in, true, &E_to)`,
	},
	{
		name:   "an optional parameter behind middleware",
		before: `{ key := middleware.ParameterKey{Name: E_name, In: E_in}; if v, ok := packed[key]; ok { E_to = v.(E_T) } }`,
		after:  `codec.Unpack(packed, E_name, E_in, false, &E_to)`,
	},
	{
		name: "a parameter of the client's path",
		before: `{
				e := uri.NewPathEncoder(E_config)
				if err := e.EncodeValue(E_text); err != nil { return res, errors.Wrap(err, "encode path") }
				encoded, err := e.Result()
				if err != nil { return res, errors.Wrap(err, "encode path") }
				E_to = encoded
			}`,
		after: "if err := codec.EncodePath(&E_to, E_config, E_text)" + returnOnError,
	},
	{
		name:   "a parameter of the client",
		before: `{ cfg := E_config; if err := E_q.EncodeParam(cfg, func(e uri.Encoder) error { S_body }); err != nil { S_h } }`,
		after:  "if err := E_q.EncodeParam(E_config, func(e uri.Encoder) error {\nS_body\n}); err != nil {\nS_h\n}",
	},
}

// setParam extracts the conversion function from a call of codec.DecodeParam. It returns false if E_decode is no such call.
func setParam(texts map[string]string) bool {
	rest, ok := strings.CutPrefix(texts["E_decode"], "codec.DecodeParam(d, &"+texts["E_v"]+", ")
	texts["E_convert"] = strings.TrimSuffix(rest, ")")
	return ok
}

// clientRules move the code around each request into package codec, and into methods of the client, which [Methods] returns.
var clientRules = []rule{
	{
		name: "who asks, of the client",
		before: securityBlock(`switch err := c.securityApiKey(ctx, E_op, r); {
			case err == nil:
				satisfied[0] |= 1 << 0
			case errors.Is(err, ogenerrors.ErrSkipClientSecurity):
			default:
				return res, errors.Wrap(err, "security \"ApiKey\"")
			}`, `return res, ogenerrors.ErrSecurityRequirementIsNotSatisfied`),
		after: "if err := c.authorize(ctx, E_op, r)" + returnOnError,
	},
	{
		name: "the request",
		before: `resp, err := c.cfg.Client.Do(r)
			if err != nil { return res, errors.Wrap(err, "do request") }
			body := resp.Body
			defer func() {
				_, _ = io.Copy(io.Discard, body)
				_ = body.Close()
			}()
			result, err := E_decode(resp)
			if err != nil { return res, errors.Wrap(err, "decode response") }
			return result, nil`,
		after: `return codec.Do(c.cfg.Client, r, E_decode)`,
	},
	{name: "a request's results", before: `res, err := E_send; return res, err`, after: `return E_send`},
}
