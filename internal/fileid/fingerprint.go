package fileid

import (
	"bytes"
	"crypto/sha256"
)

// Digest is the first 16 bytes of the SHA-256 of a fingerprint's bytes. A
// cryptographic hash, since a checkpoint may hold it in place of log text.
type Digest [16]byte

// DigestOf computes the digest of head.
func DigestOf(head []byte) Digest {
	sum := sha256.Sum256(head)
	return Digest(sum[:16])
}

// Fingerprint is the beginning of a file's content (decompressed content for
// compressed files): either its bytes, or, when it comes from a checkpoint
// without log text, only their number and digest. The zero value is the
// fingerprint of an empty file. The bytes are never changed after creation.
type Fingerprint struct {
	head   []byte
	length int
	digest Digest // set if head is nil and length > 0
}

// NewFingerprint makes the fingerprint of a file that begins with head, which
// it keeps: the caller must not change it afterwards.
func NewFingerprint(head []byte) Fingerprint {
	return Fingerprint{head: head, length: len(head)}
}

// HashedFingerprint makes a fingerprint of which only length and digest are known.
func HashedFingerprint(length int, digest Digest) Fingerprint {
	return Fingerprint{length: length, digest: digest}
}

// Len is the number of bytes that the fingerprint covers.
func (f Fingerprint) Len() int { return f.length }

// Head is the bytes of the fingerprint, nil when only their digest is known.
// It must not be changed.
func (f Fingerprint) Head() []byte { return f.head }

// IsHashed tells whether only length and digest are known.
func (f Fingerprint) IsHashed() bool { return f.head == nil && f.length > 0 }

// Digest is the digest of the bytes.
func (f Fingerprint) Digest() Digest {
	if f.IsHashed() {
		return f.digest
	}
	return DigestOf(f.head)
}

// IsPrefixOf tells whether a file that begins with head also begins as f says.
// An empty fingerprint says nothing and is a prefix of everything.
func (f Fingerprint) IsPrefixOf(head []byte) bool {
	if f.length > len(head) {
		return false
	}
	if f.IsHashed() {
		return DigestOf(head[:f.length]) == f.digest
	}
	return bytes.Equal(head[:f.length], f.head)
}

// StartsWith tells whether f, known by its bytes, is at least as long as head
// and begins with it. It is false for a hashed fingerprint that is not of the
// very same length, since a digest says nothing about a shorter beginning.
func (f Fingerprint) StartsWith(head []byte) bool {
	if f.IsHashed() {
		return len(head) == f.length && DigestOf(head) == f.digest
	}
	return bytes.HasPrefix(f.head, head)
}

// Equal tells whether both cover the same bytes.
func (f Fingerprint) Equal(g Fingerprint) bool {
	if f.length != g.length {
		return false
	}
	if f.head != nil && g.head != nil {
		return bytes.Equal(f.head, g.head)
	}
	return f.length == 0 || f.Digest() == g.Digest()
}
