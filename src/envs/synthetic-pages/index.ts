// Text-only pages and one-step lessons about them: the pretraining data of `nano`.

export { createLesson, LESSON_KINDS, LESSON_LEVELS, type Lesson, type LessonKind, type LessonMix } from './lessons.ts';
