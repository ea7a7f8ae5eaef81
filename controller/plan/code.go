package plan

import (
	"hash/fnv"
	"math/bits"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// alphabet is that of the random ends of names in Kubernetes: no vowels, so no words.
	alphabet   = "bcdfghjklmnpqrstvwxz2456789"
	codeLength = 5
	// codes is how many codes there are, the 15th power of 3.
	codes = 27 * 27 * 27 * 27 * 27
	// stride is between the numbers of two indexes, so that their pods have different codes.
	stride = 1 << 20
)

// cipher turns the numbers below codes into codes, and back, in an order that differs from Job to Job: pods that a deleted Job has left
// behind hardly ever have the names of those of its successor.
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
	for range 4 { // each time, factor*inverse is 1 modulo the square of the last power of 3
		inverse = inverse * (2 + codes - factor*inverse%codes) % codes
	}
	return cipher{spell(int64(short.Sum32())), factor, inverse, high % codes}
}

func (c cipher) encode(number int64) string { return spell((number*c.factor + c.offset) % codes) }

// decode returns the inverse of encode. It is false for what is no code.
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

// spell writes a number as a code, the lowest digit first.
func spell(number int64) string {
	code := make([]byte, codeLength)
	for i := range code {
		code[i] = alphabet[number%int64(len(alphabet))]
		number /= int64(len(alphabet))
	}
	return string(code)
}

const (
	// blocks of numbers are for slots that have as many bits: slot 0, slot 1, slots 2 and 3, slots 4 to 7, up to 2^19 - 1.
	blocks    = 20
	blockSize = codes / blocks
)

// pair numbers an attempt at a slot of a Job without indexes. It is false where there is no number: the higher a slot, the fewer of
// its attempts have one.
func pair(slot, attempt int) (number int64, ok bool) {
	block := bits.Len(uint(slot))
	first, size := slotsOf(block)
	if block >= blocks || attempt >= blockSize/size {
		return 0, false
	}
	return int64(block*blockSize + attempt*size + slot - first), true
}

// unpair returns the inverse of pair.
func unpair(number int64) (slot, attempt int) {
	rest := int(number % blockSize)
	first, size := slotsOf(int(number / blockSize))
	return first + rest%size, rest / size
}

// slotsOf returns the first slot of a block, and how many slots there are.
func slotsOf(block int) (first, size int) {
	first = 1 << block >> 1
	return first, max(1, first)
}
