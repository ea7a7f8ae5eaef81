package plan

import (
	"hash/fnv"
	"math/bits"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// alphabet is Kubernetes' alphabet of random name suffixes. It has no vowels, so suffixes do not form words.
	alphabet   = "bcdfghjklmnpqrstvwxz2456789"
	codeLength = 5
	// codes is the number of different codes, 3 to the power of 15.
	codes = 27 * 27 * 27 * 27 * 27
	// stride is the distance between the numbers of two indexes, so that their pods have different codes.
	stride = 1 << 20
)

// cipher maps numbers below codes to codes and back. The order differs from Job to Job, so that pods left behind by a
// deleted Job rarely share names with its successor's pods.
type cipher struct {
	tag                     string
	factor, inverse, offset int64
}

func newCipher(uid types.UID) cipher {
	short, long := fnv.New32a(), fnv.New64a()
	_, _ = short.Write([]byte(uid)) // never fails
	_, _ = long.Write([]byte(uid))
	high, low := int64(long.Sum64()>>32), int64(long.Sum64()&(1<<32-1))
	factor, inverse := low%codes/3*3+1, int64(1)
	for range 4 { // each step doubles the power of 3 modulo which factor*inverse is 1
		inverse = inverse * (2 + codes - factor*inverse%codes) % codes
	}
	return cipher{spell(int64(short.Sum32())), factor, inverse, high % codes}
}

func (c cipher) encode(number int64) string { return spell((number*c.factor + c.offset) % codes) }

// decode is the inverse of encode. It returns false for invalid codes.
func (c cipher) decode(code string) (number int64, ok bool) {
	if len(code) != codeLength {
		return 0, false
	}
	for i := codeLength - 1; i >= 0; i-- {
		digit := strings.IndexByte(alphabet, code[i])
		if digit < 0 {
			return 0, false
		}
		number = number*int64(len(alphabet)) + int64(digit)
	}
	return (number + codes - c.offset) * c.inverse % codes, true
}

// spell writes a number as a code, lowest digit first.
func spell(number int64) string {
	code := make([]byte, codeLength)
	for i := range code {
		code[i] = alphabet[number%int64(len(alphabet))]
		number /= int64(len(alphabet))
	}
	return string(code)
}

const (
	// blocks is the number of blocks that the numbers are divided into. A block holds the slots with the same bit length:
	// slot 0, slot 1, slots 2 and 3, slots 4 to 7, up to 2^19 - 1.
	blocks    = 20
	blockSize = codes / blocks
)

// pair returns the number of an attempt at a slot of a Job without indexes. Higher slots have numbers for fewer attempts;
// pair returns false for attempts beyond those.
func pair(slot, attempt int) (number int64, ok bool) {
	block := bits.Len(uint(slot))
	first, size := slotsOf(block)
	if block >= blocks || attempt >= blockSize/size {
		return 0, false
	}
	return int64(block*blockSize + attempt*size + slot - first), true
}

// unpair is the inverse of pair.
func unpair(number int64) (slot, attempt int) {
	rest := int(number % blockSize)
	first, size := slotsOf(int(number / blockSize))
	return first + rest%size, rest / size
}

// slotsOf returns the first slot of a block and its number of slots.
func slotsOf(block int) (first, size int) {
	first = 1 << block >> 1
	return first, max(1, first)
}
