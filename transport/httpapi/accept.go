package httpapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// AcceptQuality returns the weight, from 0 to 1, of a media type such as "audio/wav" in the Accept headers (RFC 9110, section 12.5.1). The
// most specific matching range decides; its parameters other than the weight are ignored. Invalid ranges are skipped. If no valid range
// matches, the weight is 0. Without a valid range, the weight of every type is 1.
func AcceptQuality(h http.Header, mediaType string) float64 {
	kind, _, _ := strings.Cut(mediaType, "/")
	fitting := []string{"*/*", kind + "/*", mediaType}
	best, quality, ranges := -1, 0.0, 0
	for _, value := range h.Values("Accept") {
		for part := range strings.SplitSeq(value, ",") {
			name, weight, ok := mediaRange(part)
			if !ok {
				continue
			}
			ranges++
			switch fits := slices.Index(fitting, name); {
			case fits > best:
				best, quality = fits, weight
			case fits == best && fits >= 0:
				quality = max(quality, weight)
			}
		}
	}
	if ranges == 0 {
		return 1
	}
	return quality
}

// mediaRange parses a media range. It returns the name in lower case and the weight, and reports whether the range is valid.
func mediaRange(text string) (name string, weight float64, ok bool) {
	name, parameters, _ := strings.Cut(text, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	kind, subtype, _ := strings.Cut(name, "/")
	if kind == "" || subtype == "" {
		return "", 0, false
	}
	for parameter := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return name, q, err == nil && q >= 0 && q <= 1
	}
	return name, 1, true
}
