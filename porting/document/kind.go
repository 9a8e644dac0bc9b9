package document

import (
	"bytes"
	"encoding/binary"
)

// headSize is the number of leading bytes that are read to determine a file's type.
const headSize = 512

const typePDF = "application/pdf"

// signatures lists the media types that a constant prefix identifies.
var signatures = []struct{ first, mediaType string }{
	{"%PDF-", typePDF},
	{"\xff\xd8\xff", "image/jpeg"},
	{"\x89PNG\r\n\x1a\n", "image/png"},
	{"GIF87a", "image/gif"},
	{"GIF89a", "image/gif"},
}

// sniff determines the media type of a file from its first bytes. ok is false if the type is not accepted. sniff does not check whether the
// rest of the file has that type.
func sniff(head []byte) (mediaType string, ok bool) {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.first)) {
			return s.mediaType, true
		}
	}
	switch {
	case isWebP(head):
		return "image/webp", true
	case isTIFF(head):
		return "image/tiff", true
	}
	return sniffHEIF(head)
}

// isWebP reports whether a file is a RIFF container with WebP data, whose first chunk has a name that begins with VP8: "VP8 ", VP8L or
// VP8X.
func isWebP(head []byte) bool {
	return len(head) >= 16 && string(head[:4]) == "RIFF" && string(head[8:15]) == "WEBPVP8"
}

// isTIFF reports whether a file begins with a TIFF header in either byte order: the byte order mark, the number 42, and the offset of a
// first directory behind the header. BigTIFF, which has the number 43, is refused because carriers do not read it.
func isTIFF(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	var order binary.ByteOrder
	switch string(head[:2]) {
	case "II":
		order = binary.LittleEndian
	case "MM":
		order = binary.BigEndian
	default:
		return false
	}
	return order.Uint16(head[2:]) == 42 && order.Uint32(head[4:]) >= 8
}

// heifBrands maps the brands of HEIC and HEIF files to media types (ISO/IEC 23008-12, section 10).
var heifBrands = map[string]string{
	"heic": "image/heic", "heix": "image/heic", "heim": "image/heic", "heis": "image/heic",
	"hevc": "image/heic-sequence", "mif1": "image/heif", "msf1": "image/heif-sequence",
}

// sniffHEIF returns the media type that the file type box at the start of an ISO base media file declares (ISO/IEC 14496-12, section 4.3).
// The box contains its size, its name, the major brand, a version, and compatible brands. The brands mif1 and msf1 allow any coding; with a
// compatible AVIF brand the file is AVIF, which sniffHEIF refuses.
func sniffHEIF(head []byte) (mediaType string, ok bool) {
	if len(head) < 16 || string(head[4:8]) != "ftyp" {
		return "", false
	}
	size := binary.BigEndian.Uint32(head)
	if size < 16 || size%4 != 0 {
		return "", false
	}
	major := string(head[8:12])
	mediaType, ok = heifBrands[major]
	if !ok || major != "mif1" && major != "msf1" {
		return mediaType, ok
	}
	for brands := head[16:min(int64(size), int64(len(head)))]; len(brands) >= 4; brands = brands[4:] {
		if brand := string(brands[:4]); brand == "avif" || brand == "avis" {
			return "", false
		}
	}
	return mediaType, true
}
