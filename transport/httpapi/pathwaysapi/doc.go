// Package pathwaysapi serves pathways, their versions, and text conversations with them.
package pathwaysapi
