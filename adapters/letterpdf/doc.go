// Package letterpdf renders letters of authorization as PDFs, in memory.
//
// The same letter yields the same bytes on every machine and at any time. The dates of the files are fixed, the fonts are embedded, and all
// positions are whole points, which processors cannot round differently. A new version of Go or of the PDF library may write other bytes.
// So package loa stores the file that a signer saw, and does not render the file again.
package letterpdf
